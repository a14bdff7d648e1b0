"""A test that needs what another one leaves behind, and comes before it."""

from zoo import customer


def test_brittle_needs_a_customer():
    assert customer.greeting() == "Hello, Ada"


def test_state_setter_logs_a_customer_in():
    customer.log_in("ada")
    assert customer.greeting().startswith("Hello")
