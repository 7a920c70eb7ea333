package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// elementDocument is $elemMatch with a filter: an element that is a document (or array) matches it.
type elementDocument struct{ filter node }

func (e elementDocument) holds(v bson.RawValue) bool {
	return anyItem(v, func(item bson.RawValue) bool {
		if item.Type != bson.TypeEmbeddedDocument && item.Type != bson.TypeArray {
			return false
		}
		ok, err := e.filter.match(item.Value)
		return ok && err == nil // $expr cannot occur inside, nothing else fails
	})
}

// elementValue is $elemMatch with operators: an element satisfies all of them.
type elementValue struct{ test test }

func (e elementValue) holds(v bson.RawValue) bool {
	return anyItem(v, e.test.holds)
}

func anyItem(v bson.RawValue, holds func(bson.RawValue) bool) bool {
	if v.Type != bson.TypeArray {
		return false
	}
	for item := range value.Items(v) {
		if holds(item) {
			return true
		}
	}
	return false
}

// every and without combine tests on one value, for operators inside $elemMatch.
type every []test

func (e every) holds(v bson.RawValue) bool {
	for _, t := range e {
		if !t.holds(v) {
			return false
		}
	}
	return true
}

type without struct{ test }

func (w without) holds(v bson.RawValue) bool { return !w.test.holds(v) }

func (p *parser) elemMatch(path string, v bson.RawValue) (test, error) {
	if v.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(status.BadValue, "$elemMatch needs an Object")
	}
	inner := parser{env: p.env, inside: true, depth: p.depth + 1}
	name, _ := value.First(v.Value)
	if isOperators(v) && name != "$and" && name != "$or" && name != "$nor" && name != "$where" && name != "$expr" {
		c, err := inner.operators(path, v.Value)
		if err != nil {
			return nil, err
		}
		return elementValue{c.element()}, nil
	}
	n, err := inner.filter(v.Value)
	if err != nil {
		return nil, err
	}
	return elementDocument{n}, nil
}
