package simcluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// addNewerCommands adds commands of versions after 5.0 that the catalog cannot answer
// alone.
func (c *Cluster) addNewerCommands(table map[string]command) {
	if c.version.atLeast(7, 0, 0) {
		table["checkMetadataConsistency"] = command{run: c.checkMetadata}
	}
}

// checkMetadata returns a cursor over metadata inconsistencies: of the whole cluster
// when run on admin, otherwise of one database or one of its collections.
func (c *Cluster) checkMetadata(_ context.Context, r *engine.Request) (bson.D, error) {
	size, err := cursorBatch(r)
	if err != nil {
		return nil, err
	}
	db, coll := r.DB, ""
	if v := r.Lookup(r.Name); v.Type == bson.TypeString {
		coll = v.StringValue()
	} else if n, ok := wholeNumber(v); !ok || n != 1 {
		return nil, status.Errorf(status.InvalidNamespace, "Command %s takes 1 or the name of a collection", r.Name)
	}
	if db == "admin" {
		if db = ""; coll != "" {
			return nil, status.Errorf(status.InvalidNamespace, "Collection-level mode is not valid on the admin database")
		}
	}
	k := &cursor{ns: r.DB + ".$cmd.aggregate", session: sessionOf(r)}
	if coll != "" && c.version.atLeast(8, 0, 0) {
		k.ns = r.DB + "." + coll
	}
	c.catalog.Mu.RLock()
	for _, found := range c.catalog.CheckMetadata(db, coll, truthy(r.Lookup("checkIndexes"))) {
		k.docs = append(k.docs, encode(bson.D{
			{Key: "type", Value: found.Type}, {Key: "description", Value: found.Description}, {Key: "details", Value: found.Details},
		}))
	}
	c.catalog.Mu.RUnlock()
	return c.metadataCursor(k, size)
}
