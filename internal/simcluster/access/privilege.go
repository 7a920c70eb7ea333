package access

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Privileges maps resources to the allowed actions.
type Privileges map[Resource]Actions

func (p Privileges) add(r Resource, names ...string) { p[r] = p[r].with(setOf(names...)) }

func (p Privileges) addAll(q Privileges) {
	for r, a := range q {
		p[r] = p[r].with(a)
	}
}

// May reports whether all actions are allowed on a target, possibly by several
// privileges together.
func (p Privileges) May(target Resource, names ...string) bool {
	missing := setOf(names...)
	for _, r := range target.covers() {
		if missing = missing.without(p[r]); missing.empty() {
			return true
		}
	}
	return false
}

// any reports whether any action is allowed on a collection.
func (p Privileges) any(target Resource) bool {
	return slices.ContainsFunc(target.covers(), func(r Resource) bool { return !p[r].empty() })
}

// anyIn reports whether any action is allowed in a database
// (isAuthorizedForAnyActionOnAnyResourceInDB).
func (p Privileges) anyIn(db string) bool {
	for r, a := range p {
		if a.empty() {
			continue
		}
		switch r.kind {
		case kindAny, kindBuckets, kindBucketsNamed, kindCollection:
			return true
		case kindNormal:
			if !unusual(db) {
				return true
			}
		case kindDatabase, kindNamespace, kindBucketsInDB, kindBucket:
			if r.db == db {
				return true
			}
		}
	}
	return false
}

// list formats privileges as in connectionStatus and usersInfo, in a fixed order.
func (p Privileges) list() bson.A {
	resources := make([]Resource, 0, len(p))
	for r, a := range p {
		if !a.empty() {
			resources = append(resources, r)
		}
	}
	slices.SortFunc(resources, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.db, b.db), cmp.Compare(a.coll, b.coll))
	})
	out := bson.A{}
	for _, r := range resources {
		out = append(out, bson.D{{Key: "resource", Value: r.document()}, {Key: "actions", Value: p[r].names()}})
	}
	return out
}

// parsePrivileges reads the privileges array of a command.
func parsePrivileges(v bson.RawValue) (Privileges, error) {
	p := Privileges{}
	if v.Type != bson.TypeArray {
		if v.Type == 0 {
			return p, nil
		}
		return nil, wrongType("privileges", "array")
	}
	for item := range value.Items(v) {
		doc, ok := item.DocumentOK()
		if !ok {
			return nil, status.Errorf(status.FailedToParse, "Elements in privilege arrays must be objects.")
		}
		on, ok := value.Field(doc, "resource").DocumentOK()
		if !ok {
			return nil, status.Errorf(40414, "BSON field 'Privilege.resource' is missing but a required field")
		}
		r, err := parseResource(on)
		if err != nil {
			return nil, err
		}
		var names []string
		for a := range value.Items(value.Field(doc, "actions")) {
			s, ok := a.StringValueOK()
			if !ok {
				return nil, status.Errorf(status.TypeMismatch, "actions must be an array of strings")
			}
			names = append(names, s)
		}
		set, unknown := parseActions(names)
		if len(unknown) > 0 {
			return nil, status.Errorf(status.FailedToParse, "Unrecognized action privilege strings: %s", strings.Join(unknown, " "))
		}
		if set.empty() {
			return nil, status.Errorf(status.FailedToParse, "Privilege must have at least one action")
		}
		p[r] = p[r].with(set)
	}
	return p, nil
}
