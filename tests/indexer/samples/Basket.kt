@file:JvmName("Baskets")

package shop.basket

import java.util.Date
import shop.money.*
import shop.rows.Row as Line

const val LIMIT = 10

/**
 * A basket of rows.
 */
@Serializable
@Keep
data class Basket<T>(val rows: List<T>, private val name: String = "a") : Base<T>(rows), Closeable by rows, Runnable {
    val total: Int get() = rows.sumOf { it.price() }

    constructor(only: T) : this(listOf(only)) { log() }

    /** Adds one. */
    @Throws(IOException::class)
    override suspend fun <U> add(row: T, by: U): Int where U : Any {
        if (row.isFree()) ledger.add(row) else by?.touch()
        when (row) { 1 -> 2; else -> 3 }
        for (i in 1..2) { Line(i) }
        fun twice(n: Int) = n * 2
        return twice(1)
    }

    companion object { fun empty() = Basket<Int>(emptyList()) }
    enum class State(val text: String) { OPEN("a") { override fun next() = DONE }, DONE("b"); fun isOpen() = true }
}

interface Owner { fun owner(): String }
object Single : Owner { override fun owner() = "x" }
typealias Handler = (Int) -> Unit
fun String.shout(n: Int): String = uppercase().repeat(n)

@Keep // by the shop
class Till<T>
    @Inject
    internal constructor(
        val rows: List<T>,
    ) : Base<T>(rows) {
        fun close() = rows
    }
