package catalog

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// maxSamplesPerSecond is the highest rate that configureQueryAnalyzer takes.
const maxSamplesPerSecond = 50

// queryAnalyzer samples the queries of one collection (7.0).
type queryAnalyzer struct {
	uuid    [16]byte
	on      bool
	rate    float64 // samples a second
	record  engine.RecordID
	begun   time.Time
	last    time.Time
	credit  float64 // samples that may be taken at last
	samples []SampledQuery
}

// SampledQuery is a query that was sampled.
type SampledQuery struct {
	Command string // find, aggregate, count, distinct, update, delete or findAndModify
	Filter  *query.Filter
	Many    bool   // a write of all documents that match
	Changes string // names of the fields that an update sets, separated by commas, with a comma at both ends
}

// runConfigureQueryAnalyzer turns the sampling of a collection's queries on or off
// (db/s/config/configsvr_configure_query_analyzer_cmd.cpp).
func (c *Cluster) runConfigureQueryAnalyzer(_ context.Context, req *engine.Request, ns string) (bson.D, error) {
	mode, _ := req.Lookup("mode").StringValueOK()
	rate, given := req.Lookup("samplesPerSecond").AsFloat64OK()
	switch {
	case mode != "full" && mode != "off":
		return nil, status.Errorf(status.BadValue, "Enumeration value '%s' for field 'configureQueryAnalyzer.mode' is not a valid value.", mode)
	case mode == "off" && given:
		return nil, status.Errorf(status.InvalidOptions, `Cannot specify 'samplesPerSecond' when 'mode' is "off"`)
	case mode == "full" && !given:
		return nil, status.Errorf(status.InvalidOptions, `'samplesPerSecond' must be specified when 'mode' is not "off"`)
	case mode == "full" && rate <= 0:
		return nil, status.Errorf(status.InvalidOptions, "'samplesPerSecond' must be greater than 0")
	case rate > maxSamplesPerSecond:
		return nil, status.Errorf(status.InvalidOptions, "'samplesPerSecond' must be less than or equal to %d", maxSamplesPerSecond)
	}
	uuid, ok := c.uuidOf(ns)
	if !ok {
		return nil, status.Errorf(status.NamespaceNotFound, "The namespace does not exist")
	}
	now := c.Now().Truncate(time.Millisecond)
	was := c.analyzers[ns]
	a := &queryAnalyzer{uuid: uuid, on: mode == "full", rate: rate, begun: now, last: now, credit: rate}
	reply := value.D("newConfiguration", a.configuration())
	started := bson.NewDateTimeFromTime(now)
	doc := value.D("_id", ns, "collUuid", uuidValue(uuid), a.configuration(), "startTime", started,
		value.When(!a.on, "stopTime", started))
	if was != nil && was.uuid == uuid {
		reply = append(reply, bson.E{Key: "oldConfiguration", Value: was.configuration()})
		a.samples = was.samples
	}
	if was == nil {
		a.record = c.config.insert("queryAnalyzers", doc)
	} else {
		a.record = was.record
		c.config.update("queryAnalyzers", a.record, doc)
	}
	c.analyzers[ns] = a
	return reply, nil
}

func (a *queryAnalyzer) configuration() bson.D {
	if !a.on {
		return value.D("mode", "off")
	}
	return value.D("mode", "full", "samplesPerSecond", a.rate)
}

// uuidOf is the uuid of a collection. The caller holds Mu.
func (c *Cluster) uuidOf(ns string) (uuid [16]byte, ok bool) {
	if r := c.tables[ns]; r != nil {
		return r.UUID, true
	}
	db, coll, _ := splitNS(ns)
	home, _ := c.Home(db, coll)
	if at := c.data(home, ns); at != nil {
		return at.UUID, true
	}
	return uuid, false
}

// Samples tells whether queries of a collection are sampled. The caller does not hold Mu.
func (c *Cluster) Samples(ns string) bool {
	c.Mu.RLock()
	defer c.Mu.RUnlock()
	a := c.analyzers[ns]
	return a != nil && a.on
}

// SampleQuery keeps a query, unless there were as many as the configured rate allows: samples that were not taken add
// up to those of two seconds, as in the server. The caller does not hold Mu.
func (c *Cluster) SampleQuery(ns string, q SampledQuery) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	a := c.analyzers[ns]
	uuid, ok := c.uuidOf(ns)
	if a == nil || !a.on || !ok || uuid != a.uuid {
		return
	}
	now := c.Now()
	a.credit = min(a.credit+now.Sub(a.last).Seconds()*a.rate, 2*a.rate)
	a.last = now
	if a.credit >= 1 {
		a.credit--
		a.samples = append(a.samples, q)
	}
}
