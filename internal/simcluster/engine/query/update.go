package query

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// UpdateOptions are the parts of an update statement beside u.
type UpdateOptions struct {
	Env       *expr.Env            // $$NOW (also of $currentDate) and let variables; nil allowed
	Timestamp bson.Timestamp       // for $currentDate of type timestamp
	NewID     func() bson.ObjectID // for upserts
}

// Update is a compiled update: operators, a replacement document, or a pipeline.
type Update struct {
	options     UpdateOptions
	replacement bson.Raw         // not nil: replaces the document
	stages      []expr.Transform // not nil: a pipeline
	modifiers   []*modifier      // in the order in which they apply
}

// ParseUpdate compiles u: a document with $-operators, a replacement document, or an array (pipeline).
func ParseUpdate(u bson.RawValue, o UpdateOptions) (*Update, error) {
	up := &Update{options: o}
	switch u.Type {
	case bson.TypeArray:
		return up, up.pipeline(u.Value)
	case bson.TypeEmbeddedDocument:
	default:
		return nil, status.Errorf(status.FailedToParse, "Update argument must be either an object or an array")
	}
	if name, _ := value.First(u.Value); strings.HasPrefix(name, "$") {
		return up, up.operators(u.Value)
	}
	for name := range value.Elements(u.Value) {
		if strings.HasPrefix(name, "$") {
			return nil, status.Errorf(status.DollarPrefixedFieldName, "The dollar ($) prefixed field '%s' in '%s' is not "+
				"allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.", name, name)
		}
	}
	up.replacement = u.Value
	return up, nil
}

func (u *Update) pipeline(stages bson.Raw) error {
	u.stages = []expr.Transform{}
	for _, v := range value.Elements(stages) {
		if v.Type != bson.TypeEmbeddedDocument {
			return status.Errorf(status.TypeMismatch, "Each element of the 'pipeline' array must be an object")
		}
		t, ok, err := u.options.Env.CompileTransform(v.Value)
		if err != nil {
			return err
		}
		if !ok {
			name, _ := value.First(v.Value)
			return status.Errorf(status.InvalidOptions, "%s is not allowed to be used within an update", name)
		}
		u.stages = append(u.stages, t)
	}
	return nil
}

// IsReplacement reports whether the update replaces the whole document (not allowed with multi: true).
func (u *Update) IsReplacement() bool { return u.replacement != nil }

// Apply gives the new document; changed is false when nothing differs (doc itself is then returned).
// Changing _id is error 66.
func (u *Update) Apply(doc bson.Raw) (updated bson.Raw, changed bool, err error) {
	if updated, err = u.change(doc, false); err != nil {
		return nil, false, err
	}
	if bytes.Equal(updated, doc) {
		return doc, false, nil
	}
	before, now := value.Field(doc, "_id"), value.Field(updated, "_id")
	if !value.Identical(before, now) && (now.Type == 0 || !value.Equal(before, now)) {
		return nil, false, u.immutableID(now)
	}
	return updated, true, nil
}

// change is the document after the update, or what is inserted.
func (u *Update) change(doc bson.Raw, inserting bool) (bson.Raw, error) {
	switch {
	case u.replacement != nil:
		return u.replace(doc), nil
	case u.stages != nil:
		return u.transform(doc)
	}
	return u.modify(doc, inserting)
}

func (u *Update) immutableID(now bson.RawValue) error {
	if u.modifiers != nil {
		return status.Errorf(status.ImmutableField, "Performing an update on the path '_id' would modify the immutable field '_id'")
	}
	if now.Type == 0 {
		return status.Errorf(status.ImmutableField,
			"After applying the update, the (immutable) field '_id' was found to have been removed --%s", "{ }")
	}
	return status.Errorf(status.ImmutableField,
		"After applying the update, the (immutable) field '_id' was found to have been altered to _id: %s", value.Text(now))
}

// replace keeps the _id of the old document where the new one has none, and puts _id first.
func (u *Update) replace(doc bson.Raw) bson.Raw {
	id := value.Field(u.replacement, "_id")
	if id.Type == 0 {
		id = value.Field(doc, "_id")
	}
	return value.WithID(u.replacement, id)
}

func (u *Update) transform(doc bson.Raw) (bson.Raw, error) {
	id := value.Field(doc, "_id")
	for _, stage := range u.stages {
		var err error
		if doc, err = stage.Apply(doc, u.options.Env); err != nil {
			return nil, err
		}
	}
	if now := value.Field(doc, "_id"); now.Type != 0 || id.Type == 0 {
		return doc, nil
	}
	return value.WithID(doc, id), nil // $project may drop _id: the document keeps it
}

// modify applies the operators; inserting includes $setOnInsert.
func (u *Update) modify(doc bson.Raw, inserting bool) (bson.Raw, error) {
	a := &application{update: u, doc: doc, now: doc}
	for _, m := range u.modifiers {
		if m.onInsert && !inserting {
			continue
		}
		if err := m.apply(a); err != nil {
			return nil, err
		}
	}
	return a.now, nil
}

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
	old, _ := value.Lookup(a.now, m.name)
	now, err := m.compute(a, old)
	if err != nil || value.Identical(old, now) {
		return err
	}
	a.now, err = putField(a.now, m.path, now)
	return err
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

// Upsert builds the document to insert when the filter found nothing: its equalities, then the update
// with $setOnInsert, and an _id (generated if neither gave one) as first field.
func (u *Update) Upsert(filter *Filter) (bson.Raw, error) {
	base, err := seed(filter)
	if err != nil {
		return nil, err
	}
	id := value.Field(base, "_id")
	doc, err := u.change(base, true)
	if err != nil {
		return nil, err
	}
	now := value.Field(doc, "_id")
	if id.Type != 0 && !value.Equal(id, now) {
		return nil, u.immutableID(now)
	}
	if now.Type == 0 {
		now = value.ObjectID(u.options.NewID())
	}
	return value.WithID(doc, now), nil
}

// seed is the document of a filter's equalities, in the order of their paths as the server sets them.
func seed(filter *Filter) (bson.Raw, error) {
	equal := filter.Equalities()
	slices.SortStableFunc(equal, func(a, b Equality) int { return strings.Compare(a.Path, b.Path) })
	doc := value.Encode(bson.D{})
	for i, e := range equal {
		if e.Value.Type == bson.TypeRegex {
			continue
		}
		if i > 0 && (equal[i-1].Path == e.Path || strings.HasPrefix(e.Path, equal[i-1].Path+".")) {
			return nil, status.Errorf(status.NotSingleValueField, "cannot infer query fields to set, path '%s' is matched twice", equal[i-1].Path)
		}
		var err error
		if doc, err = putField(doc, strings.Split(e.Path, "."), e.Value); err != nil {
			return nil, err
		}
	}
	return doc, nil
}
