package query

import (
	"sort"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// test is a condition on one value; a missing value has type 0.
type test interface {
	holds(v bson.RawValue) bool
}

type operator int

const (
	equal operator = iota
	less
	lessOrEqual
	greater
	greaterOrEqual
)

// comparison is $eq, $lt, $lte, $gt, $gte: only values of the operand's canonical type compare
// ("type bracketing"), except that null, undefined and missing are one and MinKey and MaxKey
// compare with everything.
type comparison struct {
	op      operator
	operand bson.RawValue
}

func (c comparison) holds(v bson.RawValue) bool {
	rank, want := value.Rank(v.Type), value.Rank(c.operand.Type)
	if rank != want {
		switch {
		case rank+want == 5: // null against undefined or missing
			return c.op == equal || c.op == lessOrEqual || c.op == greaterOrEqual
		case c.operand.Type == bson.TypeMaxKey:
			return c.op == less || c.op == lessOrEqual
		case c.operand.Type == bson.TypeMinKey:
			return c.op == greater || c.op == greaterOrEqual
		}
		return false
	}
	order := value.Compare(v, c.operand)
	switch c.op {
	case equal:
		return order == 0
	case lessOrEqual, greaterOrEqual:
		if order == 0 {
			return true
		}
	}
	if order == 0 || value.IsNaN(v) || value.IsNaN(c.operand) {
		return false // NaN is neither less nor greater than a number
	}
	if c.op == less || c.op == lessOrEqual {
		return order < 0
	}
	return order > 0
}

// oneOf is $in.
type oneOf struct {
	values  []bson.RawValue // in canonical order
	null    bool            // null is among them: missing matches too
	regexes []*pattern
}

func (o *oneOf) holds(v bson.RawValue) bool {
	if v.Type == 0 || v.Type == bson.TypeUndefined || v.Type == bson.TypeNull {
		return o.null
	}
	at := sort.Search(len(o.values), func(i int) bool { return value.Compare(o.values[i], v) >= 0 })
	if at < len(o.values) && value.Equal(o.values[at], v) {
		return true
	}
	for _, r := range o.regexes {
		if r.holds(v) {
			return true
		}
	}
	return false
}

// exists is {$exists: true}.
type exists struct{}

func (exists) holds(v bson.RawValue) bool { return v.Type != 0 }

// typed is $type.
type typed struct {
	types   map[bson.Type]bool
	numbers bool
}

func (t typed) holds(v bson.RawValue) bool {
	return v.Type != 0 && (t.types[v.Type] || t.numbers && value.IsNumber(v))
}

// size is $size.
type size int

func (s size) holds(v bson.RawValue) bool {
	return v.Type == bson.TypeArray && value.Len(v.Value) == int(s)
}

// elemMatch is $elemMatch: an element of an array satisfies a condition, one on its fields or one on itself.
type elemMatch struct {
	node
	fields bool // it has fields: it is a document or an array
}

func (e elemMatch) holds(v bson.RawValue) bool {
	if v.Type != bson.TypeArray {
		return false
	}
	for item := range value.Items(v) {
		if e.fields && item.Type != bson.TypeEmbeddedDocument && item.Type != bson.TypeArray {
			continue
		}
		if ok, err := e.match(item); ok && err == nil { // $expr cannot occur inside, nothing else fails
			return true
		}
	}
	return false
}

func (p *parser) elemMatch(at field, v bson.RawValue) (test, error) {
	if v.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(status.BadValue, "$elemMatch needs an Object")
	}
	inner := parser{env: p.env, inside: true, depth: p.depth + 1}
	switch name, _ := value.First(v.Value); name {
	case "$and", "$or", "$nor", "$where", "$expr":
	default:
		if isOperators(v) {
			n, err := inner.operators(field{name: at.name}, v.Value)
			return elemMatch{node: n}, err
		}
	}
	n, err := inner.filter(v.Value)
	return elemMatch{node: n, fields: true}, err
}
