package shop

import "time"

type Basket struct {
	items   []string
	started time.Time
}

func NewBasket(started time.Time) *Basket {
	return &Basket{started: started}
}

func (b *Basket) Add(item string, count int) {
	for i := 0; i < count; i++ {
		b.items = append(b.items, item)
	}
}

func (b *Basket) Size() int {
	return len(b.items)
}

func (b *Basket) Expires() time.Time {
	return b.started.Add(time.Hour)
}
