package answer

import (
	"net/url"
	"strings"

	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// again is the page's own address with one more thing asked.
func Again(u *url.URL, name string) string {
	q := u.Query()
	q.Set(name, "1")
	return u.EscapedPath() + "?" + q.Encode()
}

func ProofLevel(state string) string {
	switch placement.ProofState(state) {
	case placement.ProofAgrees, placement.ProofCaughtUp:
		return "ok"
	case placement.ProofDiffers:
		return "bad"
	}
	return "note"
}

// chunkURL names a chunk by its lower bound alone: a page is about the
// collection as it is, and a list has a hundred of these addresses.
func ChunkURL(ns topology.Namespace, ref string) string {
	if ref == "" {
		return "" // hidden
	}
	_, bound, _ := strings.Cut(ref, ".")
	return CollectionURL(ns) + "/chunks/" + url.PathEscape(bound)
}

// besideCollection makes the address relative to the collection's page, whose
// list has a hundred of them. A colon would make it another scheme's.
func BesideCollection(address string) string {
	if short := strings.TrimPrefix(address, "/collections/"); !strings.Contains(short, ":") {
		return short
	}
	return address
}
