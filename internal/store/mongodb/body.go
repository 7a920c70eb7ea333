package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
)

// A document of MongoDB has at most 16 MiB. A whole state of a collection of ten million chunks, or
// the rows that a survey read, can be larger. Their bodies are stored in parts: the first in the
// document itself, the others in documents of their own, which the first names.
const (
	defaultPart = 8 << 20
	maxBody     = 15 << 20 // of what is not stored in parts
)

// body is the field "body" of a document, inlined.
type body struct {
	Body  []byte          `bson:"body"`
	Parts []bson.ObjectID `bson:"body_parts,omitempty"`
}

type partDoc struct {
	ID   bson.ObjectID `bson:"_id"`
	Data []byte        `bson:"data"`
}

// putBody stores all parts but the first. Call it in the transaction that stores the document.
func (db *DB) putBody(ctx context.Context, b []byte) (body, error) {
	if len(b) <= db.o.partSize {
		return body{Body: bytesOf(b)}, nil
	}
	out := body{Body: b[:db.o.partSize]}
	for rest := b[db.o.partSize:]; len(rest) > 0; {
		n := min(db.o.partSize, len(rest))
		part := partDoc{bson.NewObjectID(), rest[:n]}
		if _, err := db.collection(bodyParts).InsertOne(ctx, part); err != nil {
			return body{}, err
		}
		out.Parts, rest = append(out.Parts, part.ID), rest[n:]
	}
	return out, nil
}

// whole reads the parts of a body.
func (db *DB) whole(ctx context.Context, b body) ([]byte, error) {
	out := b.Body
	for _, id := range b.Parts {
		part, err := one[partDoc](ctx, db, bodyParts, eq("_id", id))
		if err != nil {
			return nil, missing(err, "A part of what is stored here is missing. The audit log of the database may say who deleted it.")
		}
		out = append(out, part.Data...)
	}
	return out, nil
}

// deleteWithParts deletes documents and the parts of their bodies, in a transaction.
func (db *DB) deleteWithParts(ctx context.Context, collection string, filter bson.D) error {
	parted := append(append(bson.D{}, filter...), bson.E{Key: "body_parts", Value: bson.D{{Key: "$exists", Value: true}}})
	cur, err := db.collection(collection).Find(ctx, parted, options.Find().SetProjection(eq("body_parts", 1)))
	if err != nil {
		return err
	}
	var docs []body
	if err := cur.All(ctx, &docs); err != nil {
		return err
	}
	for _, d := range docs {
		if _, err := db.collection(bodyParts).DeleteMany(ctx, eq("_id", eq("$in", d.Parts))); err != nil {
			return err
		}
	}
	_, err = db.collection(collection).DeleteMany(ctx, filter)
	return err
}

// fits refuses a body that is too large for a document and is not stored in parts.
func fits(what string, b []byte) error {
	if len(b) <= maxBody {
		return nil
	}
	return fault.New(fault.Invalid, "%s has %d bytes, more than a document of MongoDB can have (%d). It cannot be stored.", what,
		len(b), maxBody)
}
