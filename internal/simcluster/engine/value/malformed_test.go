package value_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/simcluster/engine/value"
)

// Reading a damaged document may return anything, but never reads out of bounds.
func TestDamagedDocumentsNeverPanic(t *testing.T) {
	scope := bson.RawValue{Type: bson.TypeCodeWithScope, Value: append(append([]byte{20, 0, 0, 0}, value.String("f()").Value...),
		7, 0, 0, 0, 10, 'n', 0)}
	rapid.Check(t, func(t *rapid.T) {
		b := value.NewBuilder(64).Append("s", scope)
		for _, v := range rapid.SliceOfN(anyValue(2), 1, 4).Draw(t, "values") {
			b.Append("v", v)
		}
		doc := b.Raw()
		for range rapid.IntRange(1, 4).Draw(t, "faults") {
			doc[rapid.IntRange(0, len(doc)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		doc = doc[:rapid.IntRange(0, len(doc)).Draw(t, "length")]
		v := value.Doc(doc)
		_ = value.Compare(v, v)
		_ = value.CompareKeys(doc, doc)
		_ = value.Hash(v)
		_ = value.Text(v)
		value.Walk(doc, []string{"v", "a", "0"}, true, func(bson.RawValue) bool { return true })
	})
}
