package catalog

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// logLimit bounds config.changelog and config.actionlog, which a real server caps
// by bytes (200 and 20 MiB): the oldest entries go first.
const logLimit = 50_000

// configServer names the config server as the writer of a log entry; other writers are
// shards.
const configServer = "config"

// routerAddress is the client address of mongos in log entries of the config server.
const routerAddress = "127.0.0.1:54194"

// logChange writes an entry of config.changelog. server is "config" or a shard's
// name; entries that a router asked for carry its address. The caller holds Mu.
func (c *Cluster) logChange(server, what, ns string, details bson.D) {
	c.logEntry("changelog", server, what, ns, details)
}

func (c *Cluster) logEntry(coll, server, what, ns string, details bson.D) {
	if details == nil {
		details = bson.D{}
	}
	host := c.hostOf(server)
	now := c.Now()
	client := ""
	if coll == "changelog" && server == configServer && byRouter(what) {
		client = routerAddress
	}
	if c.since(8) { // signed by the machine, and on the config server with the connection of the router that asked
		if host = c.opts.Hostname; client != "" {
			host = fmt.Sprintf("%s:{ remote: %q, local: %q }", host, client, configHost)
		}
	}
	c.config.insert(coll, value.D("_id", fmt.Sprintf("%s-%s-%s", host, now.UTC().Format("2006-01-02T15:04:05.000-07:00"),
		c.objectID(server).Hex()),
		"server", host, "shard", server, "clientAddr", client, "time", bson.NewDateTimeFromTime(now), "what", what,
		"ns", ns, "details", details))
	c.trimLog(coll)
}

// trimLog removes the oldest tenth of a full log.
func (c *Cluster) trimLog(name string) {
	coll := c.config.coll(name)
	if coll.Len() <= logLimit {
		return
	}
	var old []engine.RecordID
	for id := range coll.All() {
		if old = append(old, id); len(old) == logLimit/10 {
			break
		}
	}
	for _, id := range old {
		coll.Delete(id)
	}
}

// byRouter reports whether the config server writes such an entry for a command of
// mongos; other entries come from its coordinators or from shards.
func byRouter(what string) bool {
	for _, own := range []string{"resharding.", "renameCollection", "setClusterParameter."} {
		if strings.HasPrefix(what, own) {
			return false
		}
	}
	return true
}

// hostOf is "machine:port" of a server, as it signs log entries.
func (c *Cluster) hostOf(server string) string {
	port := configPort
	if i := slices.Index(c.opts.Shards, server); i >= 0 {
		port += 1 + i
	}
	return fmt.Sprintf("%s:%d", c.opts.Hostname, port)
}

// versioned describes a chunk in the log entry of a split: bounds and version, with the
// collection's epoch and timestamp.
func (r *Routing) versioned(lo, hi bson.Raw, v bson.Timestamp) bson.D {
	return value.D("min", lo, "max", hi, r.versionFields("lastmod", v))
}

// text formats a document as in the server's messages: "{ p: ObjectId('…'), k: 5 }".
func text(doc bson.Raw) string { return value.Text(value.Doc(doc)) }

// rangeText formats a range as "[{ min }, { max })".
func rangeText(lo, hi bson.Raw) string { return "[" + text(lo) + ", " + text(hi) + ")" }

func uuidText(u [16]byte) string {
	s := hex.EncodeToString(u[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}
