package topology

import (
	"net"
	"slices"
	"time"
)

// Disk is the file system on which the primary of a shard keeps its data, as
// its operating system tells it: all that is on it counts, whoever put it there.
// The other members of the shard may have more or less.
type Disk struct {
	Used  Figure // bytes that cannot be written to, those that the system keeps for itself included
	Total Figure // bytes; known together with Used, and then more than 0
}

// NoDisk is a disk of which nothing is known, for a reason.
func NoDisk(reason string) Disk {
	return Disk{Used: Figure{Reason: reason}, Total: Figure{Reason: reason}}
}

// Known tells whether both figures are.
func (d Disk) Known() bool { return d.Used.Known && d.Total.Known && d.Total.Value > 0 }

// Free is the bytes that can still be written; of a known disk only.
func (d Disk) Free() int64 { return max(0, d.Total.Value-d.Used.Value) }

// Share is the used part, 0 to 1; of a known disk only.
func (d Disk) Share() float64 { return float64(d.Used.Value) / float64(max(d.Total.Value, 1)) }

// DiskOf is how full a shard's disk is, as far as it is known. The last good
// figures stay when a later read fails: their time tells, and DiskOld judges it.
func (t *Table) DiskOf(shard string) Disk {
	if d, ok := t.Disks[shard]; ok {
		return d
	}
	h := t.Health[PartDisks]
	switch {
	case h.Denied:
		return NoDisk("notPermitted")
	case h.Err != nil:
		return NoDisk(reasonOf(h.Err))
	case h.At.IsZero():
		return NoDisk("notLoaded")
	}
	return NoDisk("noDisk")
}

// SharedDisks are the shards whose disks are known, in the order of the table, those on one disk together. Shards are
// on one disk if members of both are on one machine and the figures of their disks are the same.
func (t *Table) SharedDisks() (out [][]string) {
	for _, s := range t.Shards {
		if !t.DiskOf(s.Name).Known() {
			continue
		}
		i := slices.IndexFunc(out, func(group []string) bool { return t.onOneDisk(*t.Shard(group[0]), s) })
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], s.Name)
	}
	return out
}

func (t *Table) onOneDisk(a, b Shard) bool {
	x, y := t.DiskOf(a.Name), t.DiskOf(b.Name)
	apart := x.Used.Value - y.Used.Value
	if x.Total.Value != y.Total.Value || max(apart, -apart) > x.Total.Value/diskStep { // the shards are asked one after another
		return false
	}
	machine := func(host string) string {
		if name, _, err := net.SplitHostPort(host); err == nil {
			return name
		}
		return host
	}
	return slices.ContainsFunc(a.Hosts, func(x string) bool {
		return slices.ContainsFunc(b.Hosts, func(y string) bool { return machine(x) == machine(y) })
	})
}

// DiskOld tells of a known disk whether its figures are older than three polls.
func (t *Table) DiskOld(shard string, now time.Time) bool {
	every := t.every[PartDisks]
	return every > 0 && now.Sub(t.DiskOf(shard).Used.At) > 3*every
}

// diskStep is the part of a disk by which its use has to change before anybody
// is woken for it: logs and journals let it move all the time.
const diskStep = 1000

// sameDisks tells whether two states look the same to people.
func sameDisks(a, b map[string]Disk) bool {
	if len(a) != len(b) {
		return false
	}
	for shard, d := range a {
		o, ok := b[shard]
		if !ok || d.Known() != o.Known() || d.Total.Value != o.Total.Value || d.Used.Reason != o.Used.Reason {
			return false
		}
		if moved := d.Used.Value - o.Used.Value; max(moved, -moved) > d.Total.Value/diskStep {
			return false
		}
	}
	return true
}
