package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// elementDocument is $elemMatch with a filter: an element that is a document (or array) matches it.
type elementDocument struct{ filter node }

func (e elementDocument) holds(v bson.RawValue, inner *int) bool {
	return anyItem(v, inner, func(item bson.RawValue) bool {
		if item.Type != bson.TypeEmbeddedDocument && item.Type != bson.TypeArray {
			return false
		}
		ok, err := e.filter.match(item.Value, nil)
		return ok && err == nil // $expr cannot occur inside, nothing else fails
	})
}

// elementValue is $elemMatch with operators: an element satisfies all of them.
type elementValue struct{ test test }

func (e elementValue) holds(v bson.RawValue, inner *int) bool {
	return anyItem(v, inner, func(item bson.RawValue) bool { return e.test.holds(item, nil) })
}

func anyItem(v bson.RawValue, inner *int, holds func(bson.RawValue) bool) bool {
	if v.Type != bson.TypeArray {
		return false
	}
	i := 0
	for item := range value.Items(v) {
		if holds(item) {
			if inner != nil {
				*inner = i
			}
			return true
		}
		i++
	}
	return false
}

// every and without combine tests on one value, for operators inside $elemMatch.
type every []test

func (e every) holds(v bson.RawValue, _ *int) bool {
	for _, t := range e {
		if !t.holds(v, nil) {
			return false
		}
	}
	return true
}

type without struct{ test }

func (w without) holds(v bson.RawValue, _ *int) bool { return !w.test.holds(v, nil) }
