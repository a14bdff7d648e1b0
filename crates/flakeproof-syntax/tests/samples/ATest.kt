package a.b
@Foo
class ATest : Base(), I {
  @Nested
  inner class In {
    @Test
    fun z() {
    }
  }
  companion object {
    @JvmStatic @BeforeAll fun all() {}
  }
  object O {
  }
}
enum class E {
  A;
  fun m() {}
}
interface I {
  @Test
  fun q() { }
}
fun top() {}
class S : StringSpec({ "name" { } })
