package answer

import (
	"net/url"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// FactURL is the page of the shard, collection, zone or project that a fact names; "" where
// the view has no such page. What is hidden from the reader has none: key values and
// server texts are no kinds of facts that lead anywhere.
func (v View) FactURL(f message.Fact) string {
	switch f.Kind {
	case message.KindShard:
		if v.Table.Shard(f.Value) != nil {
			return ShardURL(f.Value)
		}
	case message.KindNamespace:
		if c := v.Table.Collection(topology.Namespace(f.Value)); c != nil && Sharded(c) {
			return CollectionURL(c.NS)
		}
	case message.KindZone:
		if z := v.ZoneName(f.Value); z.ProjectName != "" {
			return "/projects/" + z.Project
		}
		if _, ok := ZoneExists(v.Table, f.Value); ok {
			return "/zones"
		}
	case message.KindProject:
		if id, err := bson.ObjectIDFromHex(f.Value); err == nil {
			if _, ok := v.Dir.ByID(id); ok {
				return "/projects/" + id.Hex()
			}
		}
	}
	return ""
}

// Switched is a page's address, with internal=1 where internal collections are shown.
func Switched(page string, internal bool) string {
	if internal {
		return page + "?" + InternalParam + "=1"
	}
	return page
}

// ShardsParam with the value "all" lists every shard where many are left out.
const ShardsParam = "shards"

// SetParameter adds a parameter that has a value.
func SetParameter(u url.Values, name, value string) {
	if value != "" {
		u.Set(name, value)
	}
}

// Address is a path with its query; the first page needs no number.
func Address(path string, u url.Values, page int) string {
	if page > 1 {
		u.Set("page", strconv.Itoa(page))
	}
	if len(u) == 0 {
		return path
	}
	return path + "?" + u.Encode()
}

// ShardURL is the page of a shard.
func ShardURL(name string) string { return "/shards/" + PathPart(name) }

// CollectionURL is the page of a collection.
func CollectionURL(ns topology.Namespace) string {
	return "/collections/" + PathPart(string(ns))
}

// ChunkURL names a chunk by its lower bound alone: a page is about the
// collection as it is, and a list has a hundred of these addresses.
func ChunkURL(ns topology.Namespace, ref string) string {
	if ref == "" {
		return "" // hidden
	}
	return CollectionURL(ns) + "/chunks/" + url.PathEscape(WithinCollection(ref))
}

// BesideCollection makes the address relative to the collection's page, whose
// list has a hundred of them. A colon would make it another scheme's.
func BesideCollection(address string) string {
	if short := strings.TrimPrefix(address, "/collections/"); !strings.Contains(short, ":") {
		return short
	}
	return address
}

// ShardPageURL is the page of a shard with a page of the collections on it.
func ShardPageURL(name string, internal bool, page int) string {
	u := url.Values{}
	if internal {
		u.Set(InternalParam, "1")
	}
	return Address(ShardURL(name), u, page)
}

// CollectionsURL is a page of the list of collections.
func CollectionsURL(internal bool, text string, page int) string {
	u := url.Values{}
	SetParameter(u, "q", text)
	if internal {
		u.Set(InternalParam, "1")
	}
	return Address("/collections", u, page)
}

// PlanURL is the address of the form of a kind, with arguments as name, value pairs.
func PlanURL(k actions.Kind, pairs ...string) string {
	q := url.Values{"kind": {string(k)}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return "/plans/new?" + q.Encode()
}

// ProjectShardURL is the page of a project with what it has on a shard.
func ProjectShardURL(id, shard string) string {
	return "/projects/" + id + "?shard=" + url.QueryEscape(shard) + "#on-shard"
}
