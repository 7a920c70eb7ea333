package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// maxPadding is the largest number of nulls with which setting an element beyond the
// end pads an array.
const maxPadding = 1_500_000

// putField is a document with the value at a path replaced, or removed if now is missing.
func putField(doc bson.Raw, path []string, now bson.RawValue) (bson.Raw, error) {
	v, err := put(value.Doc(doc), "", path, now)
	return v.Value, err
}

// put is what becomes of a value when the one at a path in it is replaced. Documents on the way are made as needed,
// and arrays are padded with null; a removed element of an array becomes null, so that the others keep their
// positions. name is the field that has the value, for messages.
func put(v bson.RawValue, name string, path []string, now bson.RawValue) (bson.RawValue, error) {
	if len(path) == 0 {
		return now, nil
	}
	part := path[0]
	index, numeric := value.Index(part)
	array := v.Type == bson.TypeArray
	switch {
	case v.Type == 0:
		v.Type = bson.TypeEmbeddedDocument
	case array && !numeric, !array && v.Type != bson.TypeEmbeddedDocument:
		return v, status.Errorf(status.PathNotViable, "Cannot create field '%s' in element {%s: %s}", part, name, value.Text(v))
	}
	b := value.NewBuilder(len(v.Value) + len(now.Value) + 64)
	add := func(key string, item bson.RawValue) {
		if array && item.Type == 0 {
			item = value.Null()
		}
		b.Append(key, item)
	}
	found, n := false, 0
	for key, item := range value.Elements(v.Value) {
		if key == part && !found {
			found = true
			var err error
			if item, err = put(item, part, path[1:], now); err != nil {
				return v, err
			}
		}
		add(key, item)
		n++
	}
	if !found {
		if array && index-n > maxPadding {
			return v, status.Errorf(status.CannotBackfillArray, "can't backfill more than %d elements", maxPadding)
		}
		for ; array && n < index; n++ {
			b.Push(value.Null())
		}
		item, err := put(bson.RawValue{}, part, path[1:], now)
		if err != nil {
			return v, err
		}
		add(part, item)
	}
	v.Value = b.Raw()
	return v, nil
}
