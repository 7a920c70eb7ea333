package replay

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
)

// checkInvariants checks what holds for any split points: chunks have no gaps or overlaps,
// and versions are unique.
func (p *player) checkInvariants() {
	p.t.Helper()
	var at bson.Raw
	var uuid string
	versions := make(map[string]bool)
	for _, row := range p.dump("chunks") {
		d := row.Document()
		if u := typedBytes(d.Lookup("uuid")); u != uuid {
			uuid, at = u, nil
			clear(versions)
		}
		lo, hi := d.Lookup("min").Document(), d.Lookup("max").Document()
		if at == nil {
			expect.Equal(p.t, lo.Index(0).Value().Type, bson.TypeMinKey, "the first chunk begins at %s", lo)
		} else if !bytes.Equal(at, lo) {
			p.t.Errorf("a chunk ends at %s, the next begins at %s", at, lo)
		}
		if v := typedBytes(d.Lookup("lastmod")); versions[v] {
			p.t.Errorf("two chunks have version %s", d.Lookup("lastmod"))
		} else {
			versions[v] = true
		}
		at = hi
	}
}
