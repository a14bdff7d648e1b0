import pytest
@pytest.fixture(autouse=True)
def db(tmp): pass
class TestX(a.TestCase, B, metaclass=M):
    def setUp(self): pass
    @deco
    async def test_y(self, x, y: int, z=1, *a, **k): self.helper(); foo()
if True:
    def test_z():
        pass
