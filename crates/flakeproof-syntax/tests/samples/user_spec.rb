require "x"
RSpec.describe User, "x" do
  let(:a) { 1 }
  before { foo }
  describe "#name" do
    it "works" do
      expect(a).to eq helper(1)
    end
    it { is_expected.to x }
  end
  def helper(x) = 1
end
class FooTest < Minitest::Test
  def setup; end
  def test_a
    bar
    self.baz(1)
  end
  test "some thing" do
  end
end
module M
  class T < TestCase
  end
end
