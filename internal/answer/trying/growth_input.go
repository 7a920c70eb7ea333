package trying

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/chunksize"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/lab/growth"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// Why a chunk cannot be moved.
const (
	stayJumbo   = "jumbo"
	stayTooBig  = "tooBig"
	stayBlocked = "blocked"
	stayNoMoves = "notBalanced"
	stayZone    = "zone"
)

// growthInput is the input of a prediction, made of what is known of the cluster, and how each of it is known.
type growthInput struct {
	v        answer.View
	q        GrowthQuery
	in       growth.Input
	position map[string]int // of shards
	from     []*topology.Collection
	amounts  []data.ChunkAmounts // of the collections
	sources  []api.LabGrowthSource
	stays    map[[2]int]string // why chunks stay, by collection and position
	capacity []api.Figure      // by shard
	notes    []string
	inputs   api.LabGrowthInputs
}

func growthInputOf(v answer.View, q GrowthQuery) (*growthInput, error) {
	g := &growthInput{v: v, q: q, position: answer.ShardPositions(v.Table), stays: map[[2]int]string{}}
	if _, ok := g.position[q.Empty]; q.Empty != "" && !ok {
		return nil, fault.New(fault.Invalid, "empty: there is no shard %q; it must be the name of one of the %s.",
			sanitize.Truncate(q.Empty, 100), answer.Counted(len(v.Table.Shards), "shard", "shards"))
	}
	for _, s := range v.Table.Shards {
		g.in.Shards = append(g.in.Shards, growth.Shard{Name: s.Name, Emptied: s.Draining || s.Name == q.Empty})
	}
	g.setInputs()
	zones := g.addZones()
	for _, c := range v.Table.Collections {
		if answer.Sharded(c) && c.Chunks != nil {
			g.addCollection(c, zones)
		}
	}
	g.addOthers()
	g.setCapacities()
	if err := g.addProject(); err != nil {
		return nil, err
	}
	g.addNotes()
	if err := g.in.Check(); err != nil {
		return nil, fault.New(fault.Invalid, "%s.", strings.ToUpper(err.Error()[:1])+err.Error()[1:])
	}
	return g, nil
}

// growthRateTexts say how the speed of a move is known.
var growthRateTexts = map[string]string{
	"changelogRate": "estimated from past moves in the changelog",
	"assumedRate":   "assumed, because no past move is known",
}

// setInputs are those that the query or the release gives.
func (g *growthInput) setInputs() {
	q, release := g.q, balance.ReleaseOf(g.v.Table.ServerInfo.Version)
	g.inputs = api.LabGrowthInputs{Add: q.Add, Empty: q.Empty, Growth: q.Growth, Group: q.Group, PerShard: q.PerShard, Fill: q.Fill,
		Pause: q.Pause.Seconds(), Rate: q.Rate, RateText: "as you gave it", MeasureText: "as you gave it"}
	speed := actions.MoveSpeedOf(g.v.Table.Events)
	if q.Rate == 0 {
		g.inputs.Rate, g.inputs.RateText = max(int64(speed.Rate), 1), growthRateTexts[speed.Method]
	}
	g.in.Measure = q.Measure
	if q.Measure == "" {
		switch {
		case !release.Known():
			g.in.Measure, g.inputs.MeasureText = growth.ByBytes, "the release is not known; newer balancers compare bytes"
		case release.ByData():
			g.in.Measure, g.inputs.MeasureText = growth.ByBytes, "as the balancer of MongoDB "+release.String()+" has it"
		default:
			g.in.Measure, g.inputs.MeasureText = growth.ByChunks, "as the balancer of MongoDB "+release.String()+" has it"
		}
	}
	g.inputs.Measure = string(g.in.Measure)
	g.in.Pace = growth.Pace{BytesPerSecond: g.inputs.Rate, Overhead: speed.Each, PerShard: q.PerShard,
		Cleanup: actions.OrphanDelay, Pause: q.Pause}
	g.in.Group, g.in.Growth = q.Group, q.Growth
}

// addZones numbers the zones that have shards or ranges.
func (g *growthInput) addZones() map[string]int {
	numbers := map[string]int{}
	for i, zone := range answer.ZoneNames(g.v.Table) {
		var shards []int
		for _, name := range g.v.Table.CarriersOf(zone) {
			shards = append(shards, g.position[name])
		}
		numbers[zone] = i + 1
		g.in.Zones = append(g.in.Zones, shards)
	}
	return numbers
}

// addCollection adds the chunks of a sharded collection, unless its size is not known.
func (g *growthInput) addCollection(c *topology.Collection, zones map[string]int) {
	a := data.SizeAmounts(g.v, c.NS, c, data.OfBytes)
	source := api.LabGrowthSource{NS: string(c.NS), Chunks: c.Chunks.Len(), Measured: len(a.Single), Reason: a.Reason}
	bytes, _, _ := answer.SizeOf(g.v.Table, c.NS)
	source.Bytes = answer.FigureOf(bytes)
	for _, owner := range c.Chunks.ShardNames() {
		if _, ok := g.position[owner]; !ok && a.Reason == "" && c.Chunks.CountByShard()[owner] > 0 {
			source.Reason = "notLoaded" // a shard that the list of shards does not have yet
		}
	}
	g.sources = append(g.sources, source)
	if source.Reason != "" {
		return
	}
	n := len(g.in.Collections)
	chunks := make([]growth.Chunk, c.Chunks.Len())
	for i, owner := range c.Chunks.Owners() {
		chunks[i] = growth.Chunk{Shard: g.position[owner], Bytes: int64(a.Of(i, owner))}
	}
	for _, s := range answer.ZoneSpansOf(g.v.Table, c) {
		for i := s.From; i < s.To; i++ {
			chunks[i].Zone = zones[s.Zone]
		}
	}
	stay := func(i int, reason string) { chunks[i].Stays, g.stays[[2]int{n, i}] = true, reason }
	switch {
	case c.MigrationsBlocked || c.Resharding:
		for i := range chunks {
			stay(i, stayBlocked)
		}
	case c.NoBalance:
		for i := range chunks {
			stay(i, stayNoMoves)
		}
	default:
		if c.Chunks.Jumbo() > 0 {
			for i, ch := range c.Chunks.All() {
				if ch.Jumbo {
					stay(i, stayJumbo)
				}
			}
		}
		if g.v.Sizes != nil {
			for i, s := range g.v.Sizes.Known(c) {
				if !chunks[i].Stays && chunksize.Judge(g.v.Table, c, c.Chunks.Owner(i), s).State == chunksize.TooBig {
					stay(i, stayTooBig)
				}
			}
		}
	}
	g.in.Collections = append(g.in.Collections, growth.Collection{NS: string(c.NS), Chunks: chunks})
	g.from, g.amounts = append(g.from, c), append(g.amounts, a)
}

// addOthers adds what is on the shards without chunks that could move.
func (g *growthInput) addOthers() {
	unknown := 0
	for ns := range answer.Namespaces(g.v.Table) {
		c := g.v.Table.Collection(ns)
		if c != nil && !c.Unsplittable || answer.System(g.v.Table, ns) {
			continue
		}
		parts, others := g.v.Table.PartsOf(ns)
		known := others.Bytes.Known || len(parts) >= len(g.v.Table.Shards)
		for name := range parts {
			if i, ok := g.position[name]; ok {
				f := parts[name].Bytes
				known = known && f.Known
				g.in.Shards[i].Other += f.Value
			}
		}
		if !known {
			unknown++
		}
	}
	if g.v.Table.Unsharded == nil {
		g.notes = append(g.notes, "Which collections are not sharded is not known, so their bytes are missing.")
	}
	if unknown > 0 {
		g.notes = append(g.notes, fmt.Sprintf("The size of %s that %s not sharded is not known and is missing.",
			answer.Counted(unknown, "collection", "collections"), message.Plural(unknown, "is", "are")))
	}
}

// setCapacities works out how many bytes of documents each shard can hold, and adds the shards that join. Free
// space on a disk holds more documents than its bytes where they are compressed: as many as they need today.
func (g *growthInput) setCapacities() {
	perByte, known := g.onDisk()
	sharing := map[string]int{} // how many shards are on the disk of a shard
	for _, on := range g.v.Table.SharedDisks() {
		for _, shard := range on {
			sharing[shard] = len(on)
		}
		if len(on) > 1 && g.q.Capacity == 0 {
			g.notes = append(g.notes, fmt.Sprintf("%s are on one disk: each is planned with an equal part of its free space.",
				answer.Few(on)))
		}
	}
	if known {
		g.inputs.DiskPerByte = &perByte
	}
	smallest := api.Figure{Reason: "noDisk"}
	for i, s := range g.v.Table.Shards {
		f := api.Figure{Reason: "noDisk"}
		switch d := g.v.Table.DiskOf(s.Name); {
		case g.q.Capacity > 0:
			f = api.Figure{Value: &g.q.Capacity, Exact: true, Method: "given", At: g.v.Now}
		case !d.Known():
			f.Reason = cmp.Or(d.Used.Reason, d.Total.Reason, "noDisk")
		case !known:
			f.Reason = "notLoaded"
		default:
			n := g.bytesOn(i) + int64(float64(d.Free())/float64(sharing[s.Name])/perByte)
			f = api.Figure{Value: &n, Method: "freeDisk", At: d.Used.At}
		}
		g.capacity = append(g.capacity, f)
		if f.Value == nil {
			smallest.Reason = f.Reason
			continue
		}
		g.in.Shards[i].Capacity = *f.Value
		if smallest.Value == nil || *f.Value < *smallest.Value {
			smallest = f
		}
	}
	g.inputs.NewCapacity = smallest
	if g.q.NewCapacity > 0 {
		g.inputs.NewCapacity = api.Figure{Value: &g.q.NewCapacity, Exact: true, Method: "given", At: g.v.Now}
	}
	g.inputs.Capacity = api.Figure{Reason: "notGiven"}
	if g.q.Capacity > 0 {
		g.inputs.Capacity = api.Figure{Value: &g.q.Capacity, Exact: true, Method: "given", At: g.v.Now}
	}
	for i := range g.q.Add {
		g.in.Shards = append(g.in.Shards, growth.Shard{Name: g.addedName(i), Added: true, Capacity: value(g.inputs.NewCapacity)})
		g.capacity = append(g.capacity, g.inputs.NewCapacity)
	}
}

// addedName names a shard that does not exist yet.
func (g *growthInput) addedName(i int) string {
	name := fmt.Sprintf("added-%d", i+1)
	for g.v.Table.Shard(name) != nil {
		name = "new-" + name
	}
	return name
}

func value(f api.Figure) int64 {
	if f.Value == nil {
		return 0
	}
	return *f.Value
}

// onDisk is how many bytes a byte of documents takes on disk with its indexes, as far as that is reported.
func (g *growthInput) onDisk() (perByte float64, known bool) {
	var bytes, disk int64
	for ns := range answer.Namespaces(g.v.Table) {
		for _, s := range g.v.Table.Sizes[ns].Shards {
			if s.Bytes.Known && s.Storage.Known && s.Indexes.Known {
				bytes, disk = bytes+s.Bytes.Value, disk+s.Storage.Value+s.Indexes.Value
			}
		}
	}
	if bytes == 0 || disk == 0 {
		return 0, false
	}
	return float64(disk) / float64(bytes), true
}

// DiskPerByteText says how documents become bytes on disk, which is assumed to stay as it is; "" where it is not known.
func DiskPerByteText(perByte *float64) string {
	if perByte == nil {
		return ""
	}
	return fmt.Sprintf("A byte of documents takes %.2f bytes on disk with its indexes, as now (assumed).", *perByte)
}

// bytesOn is what is planned with on a shard of today.
func (g *growthInput) bytesOn(i int) int64 {
	sum := float64(g.in.Shards[i].Other)
	for _, a := range g.amounts {
		sum += a.On[g.v.Table.Shards[i].Name]
	}
	return int64(sum)
}

// addNotes say what the prediction does not have.
func (g *growthInput) addNotes() {
	var left []string
	for _, s := range g.sources {
		if s.Reason != "" {
			left = append(left, s.NS+" ("+topology.ReasonText(s.Reason)+")")
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		g.notes = append(g.notes, "Left out, because the size is not known: "+answer.NamedText(left)+".")
	}
	name := g.q.Empty
	if name == "" {
		return
	}
	if rest := g.v.Table.RemainsOn(name); len(rest.Databases) > 0 {
		g.notes = append(g.notes, fmt.Sprintf("%s is the primary shard of %s: what is not sharded there leaves it by movePrimary alone.",
			answer.PersonText(name), answer.NamedText(rest.Databases)))
	}
	if n := g.in.Shards[g.position[name]].Other; n > 0 {
		g.notes = append(g.notes, fmt.Sprintf("Collections that are not sharded keep %s on %s: no move of a chunk takes that away.",
			format.Bytes(n), answer.PersonText(name)))
	}
}
