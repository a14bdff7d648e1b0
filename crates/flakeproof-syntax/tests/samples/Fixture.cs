using Xunit;
namespace A.B {
  [TestFixture]
  public class C : Base<X>, I {
    [SetUp] public void Init() {}
    [Fact, Trait("a","b")]
    public async Task D() { Helper(); this.H(); C.K(); }
    [NUnit.Framework.TestCase(1)]
    [TestCase(2)] public void E(int x) => Foo();
    class Inner { [Test] void Z() {} }
    public C() {}
    public void Dispose() {}
  }
}
