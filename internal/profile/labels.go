package profile

// WhatText says what the rows of a collection are: of Yorkie's collections by the
// code in Collection.What, of others it is the text of the profile's file.
func WhatText(what string) string {
	if text, ok := yorkieRows[what]; ok {
		return text
	}
	return what
}

var yorkieRows = map[string]string{
	"documents":       "one row per Yorkie document",
	"clients":         "one row per activated client",
	"schemas":         "document schemas",
	"changes":         "every stored change",
	"snapshots":       "a full copy every 500 changes",
	"snapshot_bodies": "snapshots too big for one row",
	"versionvectors":  "one per attached client",
	"revisions":       "named versions",
	"syncedseqs":      "what each client has seen",
}
