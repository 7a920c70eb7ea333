package fileperm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Directory is a directory that passed the rules.
type Directory struct {
	Path  string   // path without links
	Notes []string // for the log: what was changed, or tolerated and should be known
}

// OwnDir accepts a directory that belongs to this process's user and that nobody else may write to,
// read or replace. It creates a missing directory. It makes a directory that others may only read
// private, with a note. what names it in errors, such as "data directory". Other errors are the
// system's.
func OwnDir(what, path string) (Directory, error) { return ownDir(current(), what, path) }

func ownDir(me identity, what, path string) (Directory, error) {
	if info, err := os.Lstat(path); err == nil && !me.trusts(entryOf(path, info).uid) {
		return Directory{}, me.ownsDir(what, entryOf(path, info)) // check it first: the directories above likely have the same owner
	}
	w := &walk{me: me, trusts: me.trusts, create: true}
	e, err := w.to(path)
	if err != nil {
		return Directory{}, err
	}
	if err := me.ownsDir(what, e); err != nil {
		return Directory{}, err
	}
	if e.mode.Perm()&0o077 != 0 {
		if err := tighten(e); err != nil {
			return Directory{}, err
		}
		w.notes = append(
			w.notes,
			"Others could look into the "+what+" "+show(
				e.path,
			)+" (mode "+octal(
				e.mode,
			)+"). It is its owner's alone now (mode "+octal(
				e.mode&^0o077,
			)+").",
		)
	}
	return Directory{e.path, w.notes}, nil
}

// ownsDir checks the directory itself.
func (me identity) ownsDir(what string, e entry) error {
	switch {
	case e.link():
		target, _ := os.Readlink(e.path)
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(e.path), target)
		}
		return refuse(
			"The %s %s is a link, which can be pointed elsewhere later. Name the directory itself: %s",
			what,
			show(e.path),
			Quote(target),
		)
	case !e.mode.IsDir():
		return refuse("The %s %s is not a directory.", what, show(e.path))
	case e.uid == 0 && me.uid != 0 && e.mode.Perm()&0o022 == 0o020 && me.in(e.gid):
		return refuse(
			"The %s %s (%s) is root's and open to the group %s, as volumes of containers are: others of the group could replace what is in "+
				"it. Name a directory in it, which shardboard makes for itself alone: %s",
			what,
			show(e.path),
			e.modeAndOwner(),
			groupName(e.gid),
			Quote(join(e.path, "shardboard")),
		)
	case e.uid != me.uid:
		return refuse(
			"The %s %s (%s) belongs to another user than shardboard runs as (%s), who can replace what is in it. Run shardboard as its "+
				"owner, choose another directory, or run as root: chown -R %d %s",
			what,
			show(e.path),
			e.modeAndOwner(),
			userName(me.uid),
			me.uid,
			Quote(e.path),
		)
	case e.worldWrites() || e.groupWrites(me):
		who := "Every user of this machine"
		if !e.worldWrites() {
			who = "Users of the group " + groupName(e.gid)
		}
		return refuse(
			"%s may write to the %s %s (%s): who does can replace the data and come in as admin. If nobody did, run: chmod 700 %s; else "+
				"start with a new directory.",
			who,
			what,
			show(e.path),
			e.modeAndOwner(),
			Quote(e.path),
		)
	}
	return nil
}

// tighten removes other users' rights from one of our directories.
func tighten(e entry) (err error) {
	f, err := os.OpenFile(e.path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Chmod(e.mode & (fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky | 0o700))
}

// ReadDir accepts a directory that is only read and may belong to another user, who is trusted as
// much as the content. Nobody else may be able to write to it. It creates and changes nothing.
func ReadDir(what, path string) (Directory, error) { return readDir(current(), what, path) }

func readDir(me identity, what, path string) (Directory, error) {
	owner := -1
	if info, err := os.Lstat(path); err == nil {
		owner = entryOf(path, info).uid
	}
	w := &walk{me: me, trusts: func(uid int) bool { return me.trusts(uid) || uid == owner }}
	e, err := w.to(path)
	if err != nil {
		return Directory{}, err
	}
	self := me
	self.uid, self.groups = e.uid, nil
	if err := self.ownsDir(what, e); err != nil {
		return Directory{}, err
	}
	return Directory{e.path, w.notes}, nil
}

// ParentDir accepts the directory of one of our files: nobody else may write to it or replace it,
// but others may list it. It creates a missing directory. It returns the file's path without links
// in its directories.
func ParentDir(what, file string) (path string, notes []string, err error) {
	return parentDir(current(), what, file)
}

func parentDir(me identity, what, file string) (string, []string, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return "", nil, err
	}
	w := &walk{me: me, trusts: me.trusts, create: true, last: true}
	d, err := w.to(filepath.Dir(file))
	if err == nil {
		err = me.holdsFile(what, filepath.Base(file), d)
	}
	if err == nil {
		err = w.passes(d, d.device, file)
	}
	if err != nil {
		return "", nil, err
	}
	return join(d.path, filepath.Base(file)), w.notes, nil
}

// holdsFile checks the directory of one of our files.
func (me identity) holdsFile(what, name string, d entry) error {
	switch {
	case !d.mode.IsDir():
		return refuse("%s is not a directory.", show(d.path))
	case me.trusts(d.uid) && (d.worldWrites() || d.groupWrites(me)): // also a sticky one, in which others could create the file first
		return refuse(
			"Others may write to the directory %s (%s) of the %s, and so replace it. Keep it in a directory of its own, which shardboard "+
				"makes: %s; or run: chmod go-w %s",
			show(d.path),
			d.modeAndOwner(),
			what,
			Quote(join(join(d.path, "shardboard"), name)),
			Quote(d.path),
		)
	}
	return nil
}
