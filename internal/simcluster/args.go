package simcluster

import (
	"cmp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// wholeNumber reads a number of any type that stands for an integer.
func wholeNumber(v bson.RawValue) (int64, bool) {
	if !value.IsNumber(v) || value.IsNaN(v) {
		return 0, false
	}
	return value.Long(v)
}

// truthy reads a boolean argument.
func truthy(v bson.RawValue) bool { return value.True(v) }

// arguments reads the arguments of a command one after the other and keeps the first error.
type arguments struct {
	r   *engine.Request
	env *expr.Env // of expressions in them
	err error
}

func (c *Cluster) arguments(r *engine.Request) *arguments {
	p := &arguments{r: r}
	p.env, p.err = c.environment(r)
	return p
}

func (p *arguments) keep(err error) {
	if p.err == nil {
		p.err = err
	}
}

// namespace reads the collection that the command names in its first field.
func (p *arguments) namespace() (db, coll string) {
	db, coll, err := namespace(p.r)
	p.keep(err)
	return db, coll
}

// document reads an argument that is a document; absent and null are nil.
func (p *arguments) document(key string) bson.Raw {
	d, err := document(p.r, key)
	p.keep(err)
	return d
}

// filter reads an argument that is a filter.
func (p *arguments) filter(key string) *query.Filter {
	f, err := query.Parse(p.document(key), p.env)
	p.keep(err)
	return f
}

func (p *arguments) projection(key string) *query.Projection {
	f, err := query.ParseProjection(p.document(key), p.env)
	p.keep(err)
	return f
}

// count reads an argument that is a number of documents and may not be negative.
func (p *arguments) count(key string) (n int64, given bool) {
	n, given, err := count(p.r, key)
	p.keep(err)
	return n, given
}

// batch reads cursor.batchSize, -1 when there is none: metadata cursors give all at once by default.
func (p *arguments) batch() int64 {
	v := value.Field(p.document("cursor"), "batchSize")
	if v.Type == 0 {
		return -1
	}
	n, ok := wholeNumber(v)
	if !ok || n < 0 {
		p.keep(status.Errorf(status.BadValue, "cursor.batchSize must be a non-negative number"))
	}
	return n
}

func document(r *engine.Request, key string) (bson.Raw, error) {
	v := r.Lookup(key)
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined:
		return nil, nil
	case bson.TypeEmbeddedDocument:
		return v.Value, nil
	}
	return nil, wrongType(r.Name+"."+key, v, "object")
}

func count(r *engine.Request, key string) (n int64, given bool, err error) {
	v := r.Lookup(key)
	if v.Type == 0 || v.Type == bson.TypeNull {
		return 0, false, nil
	}
	n, ok := wholeNumber(v)
	if !ok {
		return 0, true, wrongType(r.Name+"."+key, v, "long")
	}
	if n < 0 {
		return 0, true, status.Errorf(51024, "BSON field '%s' value must be >= 0, actual value '%d'", key, n)
	}
	return n, true, nil
}

func wrongType(field string, v bson.RawValue, want string) error {
	return status.Errorf(status.TypeMismatch, "BSON field '%s' is the wrong type '%s', expected type '%s'", field, typeName(v.Type), want)
}

// typeName is the name of a type in server messages.
func typeName(t bson.Type) string { return value.TypeName(bson.RawValue{Type: t}) }

// namespace reads the collection that a command names in its first field; no command has a collation.
func namespace(r *engine.Request) (db, coll string, err error) {
	v := r.Lookup(r.Name)
	coll, ok := v.StringValueOK()
	if !ok {
		return "", "", status.Errorf(status.InvalidNamespace, "collection name has invalid type %s", typeName(v.Type))
	}
	return r.DB, coll, cmp.Or(checkCollection(r.DB, coll), simpleCollation(r.Lookup("collation")))
}

// fullNamespace reads a namespace such as "db.coll" that a command names in its
// first field, as dataSize does.
func fullNamespace(r *engine.Request) (db, coll string, err error) {
	ns, ok := r.Lookup(r.Name).StringValueOK()
	if ok {
		if db, coll, ok = cut(ns); ok {
			return db, coll, checkCollection(db, coll)
		}
	}
	return "", "", status.Errorf(status.InvalidNamespace, "Invalid namespace specified '%s'", ns)
}

func checkCollection(db, coll string) error {
	if coll == "" || coll[0] == '.' || strings.ContainsAny(coll, "\x00$") || len(db)+1+len(coll) > 255 {
		return status.Errorf(status.InvalidNamespace, "Invalid namespace specified '%s.%s'", db, coll)
	}
	return nil
}

// statements are the documents of a write command: from a document sequence, or
// from an array in the body.
func statements(r *engine.Request, key string) ([]bson.Raw, error) {
	list, ok := r.Docs[key]
	if !ok {
		v := r.Lookup(key)
		if v.Type == 0 {
			return nil, status.Errorf(40414, "BSON field '%s.%s' is missing but a required field", r.Name, key)
		}
		if v.Type != bson.TypeArray {
			return nil, wrongType(r.Name+"."+key, v, "array")
		}
		for e := value.Read(v.Value); e.Next(); {
			if e.Value.Type != bson.TypeEmbeddedDocument {
				return nil, wrongType(r.Name+"."+key+"."+string(e.Key), e.Value, "object")
			}
			list = append(list, bson.Raw(e.Value.Value))
		}
	}
	if len(list) == 0 || len(list) > maxWriteBatch {
		return nil, status.Errorf(codeInvalidLength, "Write batch sizes must be between 1 and %d. Got %d operations.", maxWriteBatch, len(list))
	}
	return list, nil
}

// codeInvalidLength is what the server answers to empty and to oversized batches.
const codeInvalidLength = 16

const (
	maxDocument   = 16 << 20 // maxBsonObjectSize
	maxWriteBatch = 100_000
)

// rawArray is a BSON array of documents, built without going through values.
func rawArray(docs []bson.Raw) bson.RawValue {
	size := 5
	for _, d := range docs {
		size += len(d) + 8
	}
	b := value.NewBuilder(size)
	for _, d := range docs {
		b.Push(value.Doc(d))
	}
	return bson.RawValue{Type: bson.TypeArray, Value: b.Raw()}
}

func uuidValue(id [16]byte) bson.Binary { return value.UUID(id) }

// failure is the reply of a command that failed. Old errors of the server have no code;
// errors that are not of type *status.Error become InternalError.
func (c *Cluster) failure(err error) bson.Raw {
	e := status.Of(err)
	c.stats.asserts.Add(1)
	return c.withClusterTime(value.D("ok", 0.0, "errmsg", e.Message,
		value.When(!e.NoCode, "code", e.Code, "codeName", e.Name), e.Extra))
}

// withClusterTime adds the cluster times that mongos puts at the end of every reply. The
// signature is that of a cluster without access control.
func (c *Cluster) withClusterTime(fields bson.D) bson.Raw {
	now := c.catalog.LastTimestamp()
	reply, err := bson.Marshal(value.D(fields, "$clusterTime", value.D("clusterTime", now,
		"signature", value.D("hash", bson.Binary{Data: make([]byte, 20)}, "keyId", int64(0))), "operationTime", now))
	if err != nil {
		// This is a bug in a handler. An error reply is easier to debug than a closed
		// connection.
		return c.failure(status.Errorf(status.InternalError, "reply can't be encoded: %s", err.Error()))
	}
	return reply
}

// shellText formats a document as in the server's error messages and index bounds.
func shellText(doc bson.Raw) string { return value.Text(value.Doc(doc)) }

func encode(d any) bson.Raw { return value.Encode(d) }
