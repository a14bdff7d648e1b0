using Xunit;

namespace Acme.Parsing
{
    public class ParserTests
    {
        [Fact]
        public void ReadsNumbers()
        {
            Assert.Equal(7, int.Parse("7"));
        }
    }
}
