package rules

import (
	"strconv"
	"time"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Setting is a setting of a collection that is watched while it is not as usual.
type Setting string

// The watched settings.
const (
	SettingBalancing  Setting = "balancing"
	SettingMigrations Setting = "migrations"
	SettingAutoMerge  Setting = "autoMerge"
	SettingChunkSize  Setting = "chunkSize"
	SettingDefragment Setting = "defragment"
	SettingBalancer   Setting = "balancer" // of the whole cluster: whether it moves anything
)

// watchedSettings are those of collections.
var watchedSettings = []Setting{SettingBalancing, SettingMigrations, SettingAutoMerge, SettingChunkSize, SettingDefragment}

// unusual is the value of a setting that is not as usual; "" if it is.
func (s Setting) unusual(m topology.Meta) string {
	switch {
	case s == SettingBalancing && m.NoBalance, s == SettingMigrations && m.MigrationsBlocked && !m.Resharding,
		s == SettingAutoMerge && m.AutoMergeOff:
		return SettingOff
	case s == SettingDefragment && m.Defragmenting:
		return SettingOn
	case s == SettingChunkSize && m.MaxChunkBytes > 0:
		return ChunkSizeValue(m.MaxChunkBytes)
	}
	return ""
}

// Values of settings.
const (
	SettingOn  = "on"
	SettingOff = "off"
)

// ChunkSizeValue is a chunk size as the value of a setting; "" for the cluster's.
func ChunkSizeValue(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return strconv.FormatInt(bytes, 10)
}

// SettingOf names a setting of one collection, or of the cluster.
type SettingOf struct {
	NS      topology.Namespace // "": of the cluster
	Setting Setting
}

var ofBalancer = SettingOf{Setting: SettingBalancer}

// SettingSince is since when a setting has the value that it has.
type SettingSince struct {
	At      time.Time // zero: not known
	AtLeast bool      // it already had it at the first observation
	Method  string    // "history", "watched" by this process, or "run"
	Run     string    // the run that set it; "" if it is not known who did
}

// SettingByRun is a setting that a run of shardboard has set.
type SettingByRun struct {
	SettingOf
	Value string // SettingOn, SettingOff, ChunkSizeValue
	Run   string
	At    time.Time
}

// lasting says since when something is as it is. is and has are sentences without their
// end: “Moves of {ns} are blocked”, “Moves of {ns} have been blocked”.
func (ev *evaluation) lasting(code, is, has string, s SettingSince, facts ...message.Fact) message.Message {
	facts = append(facts, message.Since("since", s.At))
	switch {
	case s.At.IsZero() || ev.Now.Sub(s.At) < time.Minute: // seconds say nothing
		return message.New(code, is+".", facts[:len(facts)-1]...)
	case s.Run != "":
		return message.New(code+".byRun", has+" for {since}, by the run {run}.", append(facts, message.Text("run", s.Run))...)
	case s.AtLeast:
		return message.New(code+".sinceAtLeast", has+" for at least {since}.", facts...)
	}
	return message.New(code+".since", has+" for {since}.", facts...)
}

// since is since when a setting of a collection is not as usual.
func (ev *evaluation) since(ns topology.Namespace, s Setting) SettingSince {
	return ev.SetSince[SettingOf{ns, s}]
}

// sinceFigure is it as a figure.
func (ev *evaluation) sinceFigure(name message.Message, s SettingSince) Evidence {
	e := Evidence{Name: name, Unit: "time", Reason: "notObserved"}
	if !s.At.IsZero() {
		e = timeFrom(e.Name, s.At, s.Method, ev.Now)
		e.Exact, e.AtLeast = !s.AtLeast, s.AtLeast
	}
	return e
}

// sinceEvidence are the figures of it.
func (ev *evaluation) sinceEvidence(s SettingSince) []Evidence {
	out := []Evidence{ev.sinceFigure(message.New("setting.since", "Set since"), s)}
	if s.Run != "" {
		out = append(out, textFrom(message.New("setting.run", "Set by the run"), message.Text("value", s.Run), "run", ev.Now))
	}
	return out
}
