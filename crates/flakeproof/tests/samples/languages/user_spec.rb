RSpec.describe User do
  describe "#name" do
    it "is trimmed" do
      expect(User.new(" a ").name).to eq "a"
    end
  end
end
