package simcluster

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// shellText formats a document as in the server's error messages and index bounds.
func shellText(doc bson.Raw) string { return value.Text(value.Doc(doc)) }

// encode marshals a document built by this package, which cannot fail.
func encode(d any) bson.Raw {
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("encode %v: %v", d, err))
	}
	return raw
}

// hasPath reports whether a document has a value at a dotted path.
func hasPath(doc bson.Raw, path string) bool {
	_, ok := value.Lookup(doc, path)
	return ok
}
