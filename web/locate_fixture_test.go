package web

import (
	"context"

	"shardboard/internal/placement"
)

// Ask answers the items of the fixture's function, as one targeted query.
func (l *stubLocator) Ask(_ context.Context, q placement.Query) (placement.Answer, error) {
	a := placement.Answer{Cost: placement.Cost{Targeted: 1}}
	if q.NS == "" {
		in, err := placement.ReadInput(q.Text)
		if err != nil {
			return a, err
		}
		a.Input = in
	}
	items, err := l.locate(q)
	a.Items = items
	return a, err
}
