package sparkkinesis.model

import org.scalatest.funsuite.AnyFunSuite

class PrintableSuite extends AnyFunSuite {
  test("no text makes a line of its own, or hides what follows") {
    val found = Printable("a\nERROR b\r\u001b[31m\u2028\u202e\u0000", 100)
    assert(found === "a\\u000aERROR b\\u000d\\u001b[31m\\u2028\\u202e\\u0000")
  }

  test("other characters stay, and a long text is cut") {
    assert(Printable("Grüße, 世界 🔑 '\\'", 100) === "Grüße, 世界 🔑 '\\'")
    assert(Printable("abc", 2) === "ab")
  }
}
