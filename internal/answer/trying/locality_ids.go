package trying

import (
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/localityid"
	"shardboard/internal/placement/ids"
	"shardboard/internal/sanitize"
)

// MaxLocalityIDs is how many ids are made at once.
const MaxLocalityIDs = 100_000

// LocalityIDQuery says which ids to make.
type LocalityIDQuery struct {
	Count   int
	Options localityid.Options
}

// Parameters say what differs from the options.
func (q *LocalityIDQuery) Parameters() param.List {
	if q.Count = 1; q.Options.Mode == "" {
		q.Options.Mode = localityid.Default
	}
	process, counter := int(q.Options.Process), int(q.Options.Counter)
	return param.List{
		param.Number(&q.Count, "count", 1, MaxLocalityIDs, "ids"),
		param.OneOf(&q.Options.Mode, "mode", "", localityid.Default, localityid.Sequential),
		param.Of("time", "when they are made; default now", func(typed string) error {
			at, err := param.ParseTime("time", typed)
			if err != nil {
				return err
			}
			if ms := at.UnixMilli(); ms < 0 || ms > localityid.MaxMilliseconds {
				return fault.New(fault.Invalid, "time must be from 1970 to 10889, not %q.", sanitize.Truncate(typed, 40))
			}
			q.Options.Now = func() time.Time { return at }
			return nil
		}),
		param.Number(&process, "process", 0, 1<<16-1, "number of the process"),
		param.Number(&counter, "counter", 0, 1<<32-1, "counter to begin with"),
		param.Of("mac", "MAC address, or its last 1 to 7 hexadecimal digits", func(typed string) (err error) {
			q.Options.MAC, err = parseMAC(typed)
			return err
		}),
		param.Check(func() error {
			q.Options.Process, q.Options.Counter = uint16(process), uint32(counter)
			return nil
		}),
	}
}

// parseMAC reads a MAC address, of which the last 28 bits are taken, or up to seven hexadecimal digits.
func parseMAC(text string) (uint32, error) {
	digits := strings.NewReplacer(":", "", "-", "", "_", "").Replace(text)
	n, err := strconv.ParseUint(digits, 16, 48)
	if err != nil || len(digits) > 7 && len(digits) != 12 {
		return 0, fault.New(fault.Invalid, "mac must be a MAC address such as 02:00:5e:10:00:01, or its last 1 to 7 hexadecimal digits, not %q.",
			sanitize.Truncate(text, 40))
	}
	return uint32(n & localityid.MaxMAC), nil
}

// MakeLocalityIDs makes ids.
func MakeLocalityIDs(q LocalityIDQuery) []api.LocalityID {
	g := localityid.NewGenerator(q.Options)
	out := make([]api.LocalityID, q.Count)
	for i := range out {
		id := g.Next()
		if q.Options.Mode == localityid.Sequential {
			out[i] = sequentialID(id, id.Time().Truncate(localityid.Window))
		} else {
			out[i] = reversedID(id, string(localityid.Default))
		}
	}
	return out
}

// InspectLocalityID takes an id apart. Ids that cannot be locality UUIDs are refused.
func InspectLocalityID(text string, now time.Time) (api.LocalityID, error) {
	u, ok := ids.ParseUUID(text)
	if !ok {
		return api.LocalityID{}, fault.New(fault.Invalid, "id must be a UUID of 32 hexadecimal digits, not %q.", sanitize.Truncate(text, 60))
	}
	id := localityid.ID(u)
	if !id.IsLocality(now) {
		return api.LocalityID{}, fault.New(fault.Invalid,
			"%s is no locality UUID: its 13th digit must be b, and its last 12 digits a time from 2012 to tomorrow.", id)
	}
	if window, _, ok := id.SequentialSince(); ok {
		return sequentialID(id, window), nil
	}
	return reversedID(id, "unknown"), nil
}

func sequentialID(id localityid.ID, window time.Time) api.LocalityID {
	out := localityID(id, string(localityid.Sequential))
	n := int(out.Written - localityid.WindowStart(window))
	out.Counter, out.Window, out.Number = out.Written, api.Time(window), &n
	return out
}

func reversedID(id localityid.ID, mode string) api.LocalityID {
	out := localityID(id, mode)
	out.Counter = localityid.Reversed(out.Written)
	return out
}

func localityID(id localityid.ID, mode string) api.LocalityID {
	f := id.Fields()
	return api.LocalityID{ID: id.String(), Mode: mode, Written: f.Counter, Process: f.Process, MAC: f.MACText(), Time: id.Time(),
		UnixMillis: f.Milliseconds}
}
