package answer

import (
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// FreshnessOf is AsOf as an answer has it.
func FreshnessOf(v View, parts ...topology.Part) api.Freshness {
	at, stale := AsOf(v, parts...)
	return api.Freshness{AsOf: at, Stale: stale}
}

// AsOf is the age of the oldest of the parts that an answer is made of.
func AsOf(v View, parts ...topology.Part) (at time.Time, stale bool) {
	for i, p := range parts {
		h := v.Table.Health[p]
		if i == 0 || h.At.Before(at) {
			at = h.At
		}
		stale = stale || v.Table.Stale(p, v.Now)
	}
	if v.Past != nil && !v.Past.Watched {
		at, stale = v.Past.Last, true
	}
	return at.UTC().Truncate(time.Millisecond), stale
}

// DirectoryAsOf is the age of what is made of projects and chunks.
func DirectoryAsOf(v View) (at time.Time, stale bool) {
	at, stale = AsOf(v, topology.PartRouting)
	h := v.Dir.Health()
	if h.At.Before(at) {
		at = h.At.UTC().Truncate(time.Millisecond)
	}
	return at, stale || h.Err != nil
}

// CheckRead refuses to answer from a part that was never read: an empty list would
// say that there is nothing.
func CheckRead(v View, p topology.Part, what string) error {
	h := v.Table.Health[p]
	switch {
	case !h.At.IsZero():
		return nil
	case h.Denied:
		return fault.Wrap(fault.Forbidden, &topology.DeniedError{Privilege: h.Privilege, Err: h.Err},
			"shardboard's database user is not permitted to read %s; it needs the privilege: %s.", what, h.Privilege)
	case h.Err != nil:
		return fault.Wrap(fault.Unavailable, h.Err, "%s could not be read yet: %s", what, fault.Text(h.Err))
	}
	return fault.New(fault.Unavailable, "%s are not read yet; try again in a moment.", what)
}

// CheckProjects refuses to answer while the list of projects was never read.
func CheckProjects(v View) error {
	h := v.Dir.Health()
	switch {
	case v.Dir.Loaded():
		return nil
	case h.Denied:
		return fault.Wrap(fault.Forbidden, &topology.DeniedError{Privilege: h.Privilege, Err: h.Err},
			v.Profile.Format("shardboard's database user is not permitted to read the projects; it needs the privilege: %s."), h.Privilege)
	case h.Err != nil:
		return fault.Wrap(fault.Unavailable, h.Err, v.Profile.Format("The projects could not be read yet: %s"), fault.Text(h.Err))
	}
	return fault.New(fault.Unavailable, "%s", v.Profile.Words("The projects are not loaded yet; try again in a moment."))
}

// WhyFreshness is the age of what the rules look at.
func WhyFreshness(v View) api.Freshness {
	return FreshnessOf(v, topology.PartRouting, topology.PartShards)
}
