package simcluster

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// shellText writes a document as the server's error messages and index bounds
// show it.
func shellText(doc bson.Raw) string { return value.Text(value.Doc(doc)) }

// encode marshals what the package builds itself, which can't fail.
func encode(d any) bson.Raw {
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("encode %v: %v", d, err))
	}
	return raw
}

// hasPath tells whether a document has a value at a dotted path.
func hasPath(doc bson.Raw, path string) bool {
	_, ok := value.Lookup(doc, path)
	return ok
}
