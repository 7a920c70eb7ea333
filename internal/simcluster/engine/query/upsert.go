package query

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Upsert builds the document to insert when the filter found nothing: its equalities, then the update
// with $setOnInsert, and an _id (generated if neither gave one) as first field.
func (u *Update) Upsert(filter *Filter) (bson.Raw, error) {
	base, err := seed(filter)
	if err != nil {
		return nil, err
	}
	id := value.Field(base, "_id")
	doc := base
	switch {
	case u.replacement != nil:
		doc, err = u.replace(base)
	case u.stages != nil:
		doc, err = u.transform(base)
	default:
		doc, err = u.modify(base, true)
	}
	if err != nil {
		return nil, err
	}
	now := value.Field(doc, "_id")
	if id.Type != 0 && !value.Equal(id, now) {
		return nil, u.immutableID(now)
	}
	if now.Type == 0 {
		next := u.options.NewID
		if next == nil {
			next = bson.NewObjectID
		}
		now = value.ObjectID(next())
	}
	return withID(doc, now), nil
}

// seed is the document of a filter's equalities, in the order of their paths as the server sets them.
func seed(filter *Filter) (bson.Raw, error) {
	equal := filter.Equalities()
	slices.SortStableFunc(equal, func(a, b Equality) int { return strings.Compare(a.Path, b.Path) })
	t := &tree{}
	for i, e := range equal {
		if e.Value.Type == bson.TypeRegex {
			continue
		}
		if i > 0 && (equal[i-1].Path == e.Path || strings.HasPrefix(e.Path, equal[i-1].Path+".")) {
			return nil, status.Errorf(status.NotSingleValueField, "cannot infer query fields to set, path '%s' is matched twice", equal[i-1].Path)
		}
		if err := t.set(strings.Split(e.Path, "."), e.Value); err != nil {
			return nil, err
		}
	}
	return t.raw(), nil
}
