package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/value"
)

// accumulator computes one field of one group.
type accumulator interface {
	add(v bson.RawValue)   // a document's value
	merge(v bson.RawValue) // another accumulator's state
	result() bson.RawValue
	state() bson.RawValue // input of merge; missing if there is no state
}

func accumulatorFor(op string) func() accumulator {
	switch op {
	case "$sum", "$count":
		return func() accumulator { return &sum{} }
	case "$avg":
		return func() accumulator { return &average{} }
	case "$min", "$max":
		return func() accumulator { return &extreme{largest: op == "$max"} }
	case "$first", "$last":
		return func() accumulator { return &end{last: op == "$last"} }
	case "$push":
		return func() accumulator { return &pushed{} }
	case "$addToSet":
		return func() accumulator { return &pushed{seen: map[string]bool{}} }
	}
	return nil
}

type sum struct{ total expr.Total }

func (a *sum) add(v bson.RawValue)   { a.total.Add(v) }
func (a *sum) merge(v bson.RawValue) { a.add(v) }
func (a *sum) result() bson.RawValue { return a.total.Sum() }
func (a *sum) state() bson.RawValue  { return a.total.Sum() }

// average has the state {subTotal, count}, as in MongoDB.
type average struct {
	total expr.Total
	count int64
}

func (a *average) add(v bson.RawValue) {
	a.total.Add(v)
	a.count = a.total.Count
}

func (a *average) merge(v bson.RawValue) {
	if part, ok := v.DocumentOK(); ok {
		a.total.Add(value.Field(part, "subTotal"))
		n, _ := value.Long(value.Field(part, "count"))
		a.count += n
	}
}

func (a *average) result() bson.RawValue { return expr.Quotient(a.total.Sum(), a.count) }

func (a *average) state() bson.RawValue {
	return doc("subTotal", a.total.Sum(), "count", value.Int64(a.count))
}

type extreme struct {
	largest bool
	best    bson.RawValue
}

func (a *extreme) add(v bson.RawValue)   { a.best = expr.Extreme(a.best, v, a.largest) }
func (a *extreme) merge(v bson.RawValue) { a.add(v) }
func (a *extreme) result() bson.RawValue { return a.best }
func (a *extreme) state() bson.RawValue  { return a.best }

type end struct {
	last, any bool
	v         bson.RawValue
}

func (a *end) add(v bson.RawValue) {
	if a.last || !a.any {
		a.v, a.any = v, true
	}
}
func (a *end) merge(v bson.RawValue) { a.add(v) }
func (a *end) result() bson.RawValue { return a.v }
func (a *end) state() bson.RawValue {
	if a.v.Type == 0 {
		return value.Null()
	}
	return a.v
}

// pushed is $push, and $addToSet when seen is not nil. Missing values are not
// added; null is.
type pushed struct {
	items []bson.RawValue
	seen  map[string]bool
}

func (a *pushed) add(v bson.RawValue) {
	if v.Type == 0 {
		return
	}
	if a.seen != nil {
		key := string(appendKey(nil, v))
		if a.seen[key] {
			return
		}
		a.seen[key] = true
	}
	a.items = append(a.items, v)
}

func (a *pushed) merge(v bson.RawValue) {
	for item := range value.Items(v) {
		a.add(item)
	}
}

func (a *pushed) result() bson.RawValue { return value.Array(a.items...) }
func (a *pushed) state() bson.RawValue  { return a.result() }
