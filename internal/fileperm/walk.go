package fileperm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds the links followed in one path, like the system's limit.
const maxLinks = 40

// walk follows a path from the root and checks each directory on the way: only trusted users may
// rename its entries. Links of trusted users are followed, so the result is a path without links
// that nobody else can redirect. The last element is not checked.
type walk struct {
	me     identity
	trusts func(uid int) bool
	create bool     // create missing directories, as private ones
	last   bool     // also follow a link as the last element
	notes  []string // what was tolerated and should be known
	hidden bool     // an unknown owner was already noted
	target string   // destination, for notes
}

// to returns the path without links and its entry.
func (w *walk) to(path string) (entry, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return entry{}, fmt.Errorf("resolve %s: %w", path, err)
	}
	w.target = abs
	at, err := w.look("/")
	var above uint64 // device of at's parent
	links := 0
	for left := split(abs); err == nil && len(left) > 0; {
		name := left[0]
		left = left[1:]
		if name == ".." { // from a link's target; at has no links, so this is its parent
			at, err = w.look(filepath.Dir(at.path))
			above = at.device // not known to be a mount point
			continue
		}
		if err := w.passes(at, above, join(at.path, name)); err != nil {
			return at, err
		}
		next, err := w.look(join(at.path, name))
		if err != nil {
			return next, err
		}
		if !next.link() || len(left) == 0 && !w.last {
			if len(left) > 0 && !next.mode.IsDir() {
				return next, refuse("%s is not a directory.", show(next.path))
			}
			at, above = next, at.device
			continue
		}
		target, err := w.follow(next)
		if err != nil {
			return next, err
		}
		if links++; links > maxLinks {
			return next, refuse("The path %s has more than %d links.", show(abs), maxLinks)
		}
		left = append(split(target), left...)
		if filepath.IsAbs(target) {
			if at, err = w.look("/"); err != nil {
				return at, err
			}
			above = 0
		}
	}
	return at, err
}

// look reads one element and creates a missing directory if requested.
func (w *walk) look(path string) (entry, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) && w.create {
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return entry{path: path}, err
		}
		info, err = os.Lstat(path) // if somebody else created it just now, it is checked as theirs
	}
	if err != nil {
		return entry{path: path}, err
	}
	return entryOf(path, info), nil
}

func (w *walk) follow(link entry) (string, error) {
	target, err := os.Readlink(link.path)
	if err == nil && !w.trusts(link.uid) {
		err = refuse(
			"%s is a link of %s to %s, who can point it elsewhere. Use a path without it.",
			show(link.path),
			userName(link.uid),
			show(target),
		)
	}
	return target, err
}

// passes checks a directory on the way. device is its parent's device, child the path that could be
// replaced.
func (w *walk) passes(d entry, device uint64, child string) error {
	switch {
	case !w.trusts(d.uid) && d.uid == w.me.unmapped && (d.sticky() || d.mode.Perm()&0o022 == 0):
		if !w.hidden { // directories below likely have the same owner
			w.hidden = true
			w.notes = append(
				w.notes,
				fmt.Sprintf(
					"The owner of %s is not a user of this user namespace, so it is not known who may rename %s or what is above it.",
					show(d.path),
					show(w.target),
				),
			)
		}
	case !w.trusts(d.uid):
		return refuse(
			"The directory %s (%s) belongs to another user, who can put something else in the place of %s. Choose a path below directories "+
				"of your own or of root, or run as root: chown %d %s",
			show(d.path),
			d.modeAndOwner(),
			show(child),
			w.me.uid,
			Quote(d.path),
		)
	case d.sticky(): // only the owner of an entry can rename it
	case d.worldWrites():
		return refuse(
			"Every user of this machine may write to the directory %s (%s), and so put something else in the place of %s. Choose another "+
				"path, or run: chmod o-w %s",
			show(d.path),
			d.modeAndOwner(),
			show(child),
			Quote(d.path),
		)
	case !d.groupWrites(w.me):
	case d.uid == 0 && !d.acl && d.device != device && w.me.in(d.gid):
		w.notes = append(
			w.notes,
			fmt.Sprintf(
				"The group %s may write to the volume %s, and so put something else in the place of %s. No other user must be in that group.",
				groupName(d.gid),
				show(d.path),
				show(child),
			),
		)
	default:
		return refuse(
			"Users of the group %s may write to the directory %s (%s), and so put something else in the place of %s. Choose another path, or "+
				"run: chmod g-w %s",
			groupName(d.gid),
			show(d.path),
			d.modeAndOwner(),
			show(child),
			Quote(d.path),
		)
	}
	return nil
}

// split returns the elements of a path; ".." stays, because it means the parent of a link's target.
func split(path string) []string {
	var out []string
	for _, name := range strings.Split(path, "/") {
		if name != "" && name != "." {
			out = append(out, name)
		}
	}
	return out
}

// join does not clean, because a name is a single element.
func join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}
