"""What it costs to send a parcel, in cents."""


def cost(grams, country):
    base = 400 if country == "home" else 900
    if grams > 2000:
        base = 1500
    return base + 100 * (grams // 1000)
