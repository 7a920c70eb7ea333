package query

import (
	"bytes"
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
	NewID     func() bson.ObjectID // for upserts; nil = bson.NewObjectID
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
	switch {
	case u.replacement != nil:
		updated, err = u.replace(doc)
	case u.stages != nil:
		updated, err = u.transform(doc)
	default:
		updated, err = u.modify(doc, false)
	}
	if err != nil {
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
func (u *Update) replace(doc bson.Raw) (bson.Raw, error) {
	id := value.Field(u.replacement, "_id")
	if id.Type == 0 {
		id = value.Field(doc, "_id")
	}
	return withID(u.replacement, id), nil
}

// withID gives doc with _id as its first field.
func withID(doc bson.Raw, id bson.RawValue) bson.Raw {
	b := value.NewBuilder(len(doc)+len(id.Value)+5).Append("_id", id)
	for name, v := range value.Elements(doc) {
		if name != "_id" {
			b.Append(name, v)
		}
	}
	return b.Raw()
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
	return withID(doc, id), nil // $project may drop _id: the document keeps it
}

// modify applies the operators; inserting includes $setOnInsert.
func (u *Update) modify(doc bson.Raw, inserting bool) (bson.Raw, error) {
	a := &application{update: u, doc: doc, tree: openDoc(doc)}
	for _, m := range u.modifiers {
		if m.onInsert && !inserting {
			continue
		}
		if err := m.apply(a); err != nil {
			return nil, err
		}
	}
	return a.tree.raw(), nil
}
