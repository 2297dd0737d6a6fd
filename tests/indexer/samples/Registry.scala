package shop.registry

import scala.collection.mutable
import shop.{Order, Row => Line, _}
import shop.money._
import a.b as c

/**
 * Orders by id.
 */
@deprecated("x", "1")
final case class Registry[T](rows: Int, name: String = "a") extends Base[T](rows) with Closeable {
  private val limit = 1

  def this(only: Int) = this(only, "b")

  /** Finds one. */
  override def find[U](id: Int)(implicit by: U): Int = {
    if (id > 0) ledger.add(id) else log()
    for (i <- 1 to 2) yield Line(i)
    id match { case 1 => 2; case _ => 3 }
    def twice(n: Int) = n * 2
    new Cursor[T](twice(1)).next()
  }

  def close: Unit
  def +(other: Registry[T]): Int = 1
  type Handler = Int => Unit
}

object Registry { def empty(): Registry[Int] = new Registry(1) }
trait Owner[F[_]] extends Named { def owner: String }
enum Color(val rgb: Int) { case Red extends Color(1); def isRed = true }
extension (s: String) def shout(n: Int): String = s * n
given ordering: Ordering[Color] with
  def compare(a: Color, b: Color) = 1
