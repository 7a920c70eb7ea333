package query

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// modifier is one operator applied to one path.
type modifier struct {
	op       string
	name     string   // the path as written
	path     []string // may hold "$", "$[]", "$[id]"
	onInsert bool     // $setOnInsert
	compute  func(a *application, old bson.RawValue) (bson.RawValue, error)
	from     []string // $rename: where the value comes from
}

// apply changes the value at a concrete path. A missing result leaves a missing field missing and
// removes one that exists.
func (m *modifier) apply(a *application, path []string) error {
	old := a.tree.get(path)
	now, err := m.compute(a, old)
	switch {
	case err != nil:
		return err
	case now.Type == 0:
		if old.Type != 0 {
			a.tree.remove(path)
		}
		return nil
	case value.Identical(old, now):
		return nil
	}
	return a.tree.set(path, now)
}

// operators compiles {$set: {…}, $inc: {…}} to modifiers in the order of their paths, which is the
// order in which the server applies them and appends new fields.
func (u *Update) operators(doc bson.Raw) error {
	u.modifiers = []*modifier{}
	if err := u.arrayFilters(); err != nil {
		return err
	}
	for op, fields := range value.Elements(doc) {
		if !knownOperator(op) {
			return status.Errorf(status.FailedToParse,
				"Unknown modifier: %s. Expected a valid update modifier or pipeline-style update specified as an array", op)
		}
		if fields.Type != bson.TypeEmbeddedDocument {
			return status.Errorf(status.FailedToParse,
				"Modifiers operate on fields but we found type %s instead. For example: {$mod: {<field>: ...}} not {%s: %s}",
				TypeName(fields), op, value.Text(fields))
		}
		for name, arg := range value.Elements(fields.Value) {
			if err := u.add(op, name, arg); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(u.modifiers, func(a, b *modifier) int { return comparePaths(a.path, b.path) })
	if err := u.conflicts(); err != nil {
		return err
	}
	return u.unusedFilters(doc)
}

func (u *Update) add(op, name string, arg bson.RawValue) error {
	path, err := splitPath(name)
	if err != nil {
		return err
	}
	if op == "$rename" {
		return u.rename(name, path, arg)
	}
	compute, err := operation(op, name, arg)
	if err != nil {
		return err
	}
	u.modifiers = append(u.modifiers, &modifier{op: op, name: name, path: path, compute: compute, onInsert: op == "$setOnInsert"})
	return nil
}

// rename makes two modifiers: one sets the new path from the old one, one removes the old one.
func (u *Update) rename(name string, from []string, arg bson.RawValue) error {
	if arg.Type != bson.TypeString {
		return status.Errorf(status.BadValue, "The 'to' field for $rename must be a string: %s: %s", name, value.Text(arg))
	}
	to := arg.StringValue()
	path, err := splitPath(to)
	if err != nil {
		return err
	}
	switch {
	case name == to:
		return status.Errorf(status.BadValue, "The source and target field for $rename must differ: %s: %s", name, value.Text(arg))
	case slices.ContainsFunc(append(slices.Clip(from), path...), isPositional):
		return status.Errorf(status.BadValue, "The source field for $rename may not be dynamic: %s", name)
	}
	set := func(a *application, old bson.RawValue) (bson.RawValue, error) {
		v, err := a.source(from)
		if err != nil || v.Type == 0 {
			return old, err
		}
		return v, nil
	}
	gone := func(*application, bson.RawValue) (bson.RawValue, error) { return bson.RawValue{}, nil }
	u.modifiers = append(u.modifiers,
		&modifier{op: "$rename", name: to, path: path, from: from, compute: set},
		&modifier{op: "$rename", name: name, path: from, compute: gone})
	return nil
}

func splitPath(name string) ([]string, error) {
	if name == "" {
		return nil, status.Errorf(status.EmptyFieldName, "An empty update path is not valid.")
	}
	path := strings.Split(name, ".")
	for i, part := range path {
		switch {
		case part == "":
			return nil, status.Errorf(status.EmptyFieldName, "The update path '%s' contains an empty field name, which is not allowed.", name)
		case i == 0 && isPositional(part):
			return nil, status.Errorf(status.BadValue, "Cannot have positional (i.e. '$') element in the first position in path '%s'", name)
		case strings.HasPrefix(part, "$") && !isPositional(part) && part != "$id" && part != "$ref" && part != "$db":
			return nil, status.Errorf(status.DollarPrefixedFieldName,
				"The dollar ($) prefixed field '%s' in '%s' is not valid for storage.", part, name)
		}
	}
	return path, nil
}

func isPositional(part string) bool {
	return part == "$" || strings.HasPrefix(part, "$[") && strings.HasSuffix(part, "]")
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

// TypeName is the alias of a value's type, as error messages and $type name it.
func TypeName(v bson.RawValue) string {
	for _, name := range typeNames() {
		if t, _ := typeNamed(name); t == v.Type {
			return name
		}
	}
	return "missing"
}
