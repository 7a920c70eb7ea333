package answer

import (
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
)

// locateWorkers is how many lines of one POST are looked up at a time: enough
// to hide a round trip, few enough not to crowd the mongos.
const LocateWorkers = 8

// keptLines leaves blank lines out and refuses what no line can be.
func KeptLines(lines []string) ([]string, error) {
	kept := lines[:0]
	for i, line := range lines {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if _, err := CheckText("Line "+strconv.Itoa(i+1), line); err != nil {
			return nil, err
		}
		kept = append(kept, line)
	}
	if len(kept) == 0 || len(kept) > api.MaxLocateLines {
		return nil, fault.New(fault.Invalid, "Send 1 to %d lines; this request has %d.", api.MaxLocateLines, len(kept))
	}
	return kept, nil
}

// locateWait bounds the few reads that one question may cost the cluster.
const LocateWait = 5 * time.Second

// placeKey is the first field of a located key as the chunk table's filter
// takes it, so that the link leads to the very chunk.
func PlaceKey(p placement.Place) string {
	if p.Key.IsZero() || p.Pattern.IsZero() {
		return ""
	}
	values, err := p.Pattern.Values(p.Key)
	if err != nil || len(values) == 0 {
		return ""
	}
	switch values[0].Type {
	case bson.TypeObjectID, bson.TypeInt64:
		return shardkey.PlainValue(values[0])
	}
	return ""
}
