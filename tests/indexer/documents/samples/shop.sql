-- The shop's database; run once.

-- Who may buy.
-- One row for each person.
CREATE TABLE IF NOT EXISTS shop.customers (
    id bigint PRIMARY KEY, -- never reused
    "full name" text NOT NULL DEFAULT 'x; y',
    price numeric(10, 2),
    CONSTRAINT named CHECK (length("full name") > 0)
);

CREATE INDEX customers_name ON shop.customers ("full name");

/* Open orders only. */
CREATE OR REPLACE VIEW open_orders AS
SELECT o.* FROM orders o JOIN shop.customers c ON c.id = o.customer WHERE NOT o.paid;

CREATE FUNCTION total(order_id bigint) RETURNS numeric AS $body$
BEGIN
    RETURN (SELECT sum(price) FROM lines; -- CREATE TABLE no_table (x int);
END;
$body$ LANGUAGE plpgsql;

CREATE TRIGGER stock AFTER INSERT ON lines BEGIN
    UPDATE shelf SET pieces = CASE WHEN pieces > 0 THEN pieces - 1 ELSE 0 END;
    SELECT 1;
END;

CREATE TABLE orders (id int, customer int REFERENCES shop.customers (id));
