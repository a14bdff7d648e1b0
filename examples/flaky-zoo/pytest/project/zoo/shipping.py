"""What it costs to send a parcel, in cents."""


def cost(grams, country):
    base = 400 if country == "home" else 900
    return base + 100 * (grams // 1000)
