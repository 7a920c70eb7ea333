package simcluster

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// anyValue are fields that differ from run to run or from disk to disk; they only
// have to be there.
var anyValue = map[string]bool{
	"$clusterTime": true, "operationTime": true, "topologyVersion": true, "localTime": true, "connectionId": true,
	"uuid": true, "serverInfo": true, "queryHash": true, "planCacheKey": true, "host": true, "connectionString": true,
	"storageSize": true, "totalIndexSize": true, "totalSize": true, "indexSizes": true, "freeStorageSize": true,
	"indexDetails": true, "indexSize": true, "fsUsedSize": true, "fsTotalSize": true, "millis": true, "latencyStats": true,
	"executionTimeMillis": true, "executionTimeMillisEstimate": true, "totalChildMillis": true,
	"lastmodEpoch": true, "timestamp": true, "processId": true, "command": true, "expDate": true,
}

// mayMiss are fields of the storage engine and of the talk between servers.
var mayMiss = map[string]bool{
	"wiredTiger": true, "$gleStats": true, "lastCommittedOpTime": true, "$configServerState": true,
	"$configTime": true, "$topologyTime": true, "rejectedPlans": true,
}

// differences lists where got is not what was recorded.
func differences(path string, want, got bson.RawValue) []string {
	if want.Type == bson.TypeEmbeddedDocument && got.Type == bson.TypeEmbeddedDocument {
		var out []string
		for k, v := range value.Elements(want.Value) {
			g := value.Field(got.Value, k)
			switch {
			case mayMiss[k]:
			case strings.Contains(path, ".shards.") && (k == "$clusterTime" || k == "operationTime"):
				// What shards tell each other leaks into collStats.
			case strings.HasPrefix(k, "shard-rs-") && strings.Contains(k, "/"):
				// A connection string: the port is the recording's own.
				set, _, _ := strings.Cut(k, "/")
				for gk, gv := range value.Elements(got.Value) {
					if strings.HasPrefix(gk, set+"/") {
						g = gv
					}
				}
				out = append(out, differences(path+"."+set, v, g)...)
			case anyValue[k]:
				if g.Type == 0 {
					out = append(out, path+"."+k+" is missing")
				}
			default:
				out = append(out, differences(path+"."+k, v, g)...)
			}
		}
		for k := range value.Elements(got.Value) {
			if value.Field(want.Value, k).Type == 0 && !mayMiss[k] && !(strings.HasPrefix(k, "shard-rs-") && strings.Contains(k, "/")) {
				out = append(out, path+"."+k+" should not be there")
			}
		}
		return out
	}
	if want.Type == bson.TypeArray && got.Type == bson.TypeArray {
		w, g := slices.Collect(value.Items(want)), slices.Collect(value.Items(got))
		if strings.HasSuffix(path, ".shards") || strings.HasSuffix(path, "listCollections.cursor.firstBatch") {
			byName(w)
			byName(g)
		}
		if len(w) != len(g) {
			return []string{fmt.Sprintf("%s has %d items, want %d", path, len(g), len(w))}
		}
		var out []string
		for i := range w {
			out = append(out, differences(fmt.Sprintf("%s[%d]", path, i), w[i], g[i])...)
		}
		return out
	}
	if !value.Identical(want, got) {
		return []string{fmt.Sprintf("%s is %s %s, want %s %s", path, typeName(got.Type), shellValue(got), typeName(want.Type), shellValue(want))}
	}
	return nil
}

// byName sorts the rows of shards or collections, whose order is chance.
func byName(list []bson.RawValue) {
	name := func(v bson.RawValue) string {
		for _, k := range []string{"shardName", "name"} {
			if s, ok := value.Field(v.Value, k).StringValueOK(); ok {
				return s
			}
		}
		return ""
	}
	slices.SortStableFunc(list, func(a, b bson.RawValue) int { return strings.Compare(name(a), name(b)) })
}
