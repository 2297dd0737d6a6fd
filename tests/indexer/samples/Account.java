package com.example;

import java.util.List;
import static java.util.Objects.*;

/**
 * An account.
 * @see Owner
 */
@Entity(name = "account")
public class Account<T> extends Base<T> implements Owner, java.io.Serializable {
    private final List<T> items = load();

    /** Makes one. */
    public Account(String name) {
        super(name);
    }

    // Pays in.
    @Override
    @Transactional(timeout = 3)
    public long deposit(long amount, Currency currency)
            throws AccountException {
        for (T item : items) { log(item); }
        switch (currency) {
            case EUR: break;
            default: throw new AccountException("no");
        }
        Runnable later = new Runnable() {
            public void run() { audit.write(amount); }
        };
        return amount > 0 ? this.balance.add(amount) : 0;
    }

    abstract void close();

    enum Currency { EUR, USD; boolean isEuro() { return this == EUR; } }

    record Line(int amount) implements Owner { Line { check(amount); } }
}

interface Owner extends Named, Closeable {
    String owner();
    default String label() { return owner(); }
}

@interface Audited { int level(); }
