class UserTest < Minitest::Test
  def test_age
    assert_equal 7, User.new(age: 7).age
  end
end
