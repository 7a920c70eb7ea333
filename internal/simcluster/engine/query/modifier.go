package query

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// modifier is one operator applied to one path.
type modifier struct {
	op       string
	name     string // the path as written
	path     []string
	onInsert bool // $setOnInsert
	compute  func(a *application, old bson.RawValue) (bson.RawValue, error)
}

// apply changes the value at the path. A missing result leaves a missing field missing and
// removes one that exists.
func (m *modifier) apply(a *application) error {
	old := a.tree.get(m.path)
	now, err := m.compute(a, old)
	switch {
	case err != nil:
		return err
	case now.Type == 0:
		if old.Type != 0 {
			a.tree.remove(m.path)
		}
		return nil
	case value.Identical(old, now):
		return nil
	}
	return a.tree.set(m.path, now)
}

// operators compiles {$set: {…}, $inc: {…}} to modifiers in the order of their paths, which is the
// order in which the server applies them and appends new fields.
func (u *Update) operators(doc bson.Raw) error {
	u.modifiers = []*modifier{}
	for op, fields := range value.Elements(doc) {
		if !knownOperator(op) {
			return status.Errorf(status.FailedToParse,
				"Unknown modifier: %s. Expected a valid update modifier or pipeline-style update specified as an array", op)
		}
		if fields.Type != bson.TypeEmbeddedDocument {
			return status.Errorf(status.FailedToParse,
				"Modifiers operate on fields but we found type %s instead. For example: {$mod: {<field>: ...}} not {%s: %s}",
				expr.TypeName(fields), op, value.Text(fields))
		}
		for name, arg := range value.Elements(fields.Value) {
			if err := u.add(op, name, arg); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(u.modifiers, func(a, b *modifier) int { return comparePaths(a.path, b.path) })
	return u.conflicts()
}

func (u *Update) add(op, name string, arg bson.RawValue) error {
	path, err := splitPath(name)
	if err != nil {
		return err
	}
	compute, err := operation(op, name, arg)
	if err != nil {
		return err
	}
	u.modifiers = append(u.modifiers, &modifier{op: op, name: name, path: path, compute: compute, onInsert: op == "$setOnInsert"})
	return nil
}

func splitPath(name string) ([]string, error) {
	if name == "" {
		return nil, status.Errorf(status.EmptyFieldName, "An empty update path is not valid.")
	}
	path := strings.Split(name, ".")
	for _, part := range path {
		switch {
		case part == "":
			return nil, status.Errorf(status.EmptyFieldName, "The update path '%s' contains an empty field name, which is not allowed.", name)
		case strings.HasPrefix(part, "$") && part != "$id" && part != "$ref" && part != "$db":
			return nil, status.Errorf(status.DollarPrefixedFieldName,
				"The dollar ($) prefixed field '%s' in '%s' is not valid for storage.", part, name)
		}
	}
	return path, nil
}

// comparePaths orders part by part, numbers by value.
func comparePaths(a, b []string) int {
	return slices.CompareFunc(a, b, func(x, y string) int {
		if i, ok := value.Index(x); ok {
			if j, ok := value.Index(y); ok {
				return cmp.Compare(i, j)
			}
		}
		return cmp.Compare(x, y)
	})
}

// conflicts rejects two modifiers on the same path or on a path and one below it.
// Checking adjacent modifiers is enough, because everything sorted between a path and
// one below it is also below it.
func (u *Update) conflicts() error {
	for i := 1; i < len(u.modifiers); i++ {
		a, b := u.modifiers[i-1], u.modifiers[i]
		if len(a.path) <= len(b.path) && slices.Equal(a.path, b.path[:len(a.path)]) {
			return status.Errorf(status.ConflictingUpdateOperators, "Updating the path '%s' would create a conflict at '%s'", b.name, a.name)
		}
	}
	return nil
}
