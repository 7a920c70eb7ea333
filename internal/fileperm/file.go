package fileperm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// OpenOwn opens one of our files in a directory that OwnDir or ParentDir accepted; flag is that of
// os.OpenFile, and a new file is private. It rejects links, irregular files, files with several
// hard links, files of other users and files that others may write. flag must not have os.O_TRUNC,
// because nothing may be changed before the checks.
func OpenOwn(what, path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600) // must not block on a pipe
	if err != nil {
		if checked := CheckOwn(what, path); checked != nil { // clearer than "too many links"
			return nil, checked
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = current().ownsFile(what, entryOf(path, info), true)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// CheckOwn checks a file like OpenOwn without opening it: for files that another library has open,
// whose locks would be lost if we opened and closed them. A missing file is in order.
func CheckOwn(what, path string) error {
	return check(path, func(e entry) error { return current().ownsFile(what, e, true) })
}

// CheckRead checks a file in a directory that ReadDir accepted: it belongs to a user who is trusted
// there, and nobody else may write to it. It may have several hard links, as some copies have.
func CheckRead(what, path string, dir Directory) error {
	return check(path, func(e entry) error {
		me := current()
		info, err := os.Lstat(dir.Path)
		if err != nil {
			return err
		}
		if me.trusts(e.uid) || e.uid == entryOf(dir.Path, info).uid {
			me.uid = e.uid
		}
		return me.ownsFile(what, e, false)
	})
}

func check(path string, judge func(entry) error) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return judge(entryOf(path, info))
}

// ownsFile checks a file that only this process should change. alone requires that it has no other
// hard links.
func (me identity) ownsFile(what string, e entry, alone bool) error {
	switch {
	case e.link():
		target, _ := os.Readlink(e.path)
		return refuse("The %s %s is a link to %s: what is written there would change another file. Find out who made it, then remove it: rm %s",
			what, show(e.path), show(target), Quote(e.path))
	case !e.mode.IsRegular():
		return refuse("The %s %s is not a regular file (%s). Remove it or choose another path.", what, show(e.path), e.mode.Type())
	case e.uid != me.uid:
		return refuse(
			"The %s %s (%s) belongs to another user than shardboard runs as (%s), who can change it. If you know where it is from, run as "+
				"root: chown %d %s",
			what,
			show(e.path),
			e.modeAndOwner(),
			userName(me.uid),
			me.uid,
			Quote(e.path),
		)
	case e.worldWrites() || e.groupWrites(me):
		return refuse("The %s %s (%s) may be written by others, and may not be what shardboard wrote. If nobody changed it, run: chmod 600 %s",
			what, show(e.path), e.modeAndOwner(), Quote(e.path))
	case alone && e.links > 1:
		return refuse(
			"The %s %s has %d names: whoever has another one reads and changes the same file. If nobody did, make it a file of its own: cp "+
				"-p %s %s && mv -f %s %s",
			what,
			show(e.path),
			e.links,
			Quote(e.path),
			Quote(e.path+".copy"),
			Quote(e.path+".copy"),
			Quote(e.path),
		)
	}
	return nil
}

// Same fails when a path no longer leads to the same file.
func Same(what, path string, was fs.FileInfo) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("look at %s again: %w", path, err)
	}
	if !os.SameFile(info, was) {
		return refuse("The %s %s was replaced while it was opened. Find out by whom, then start again.", what, show(path))
	}
	return nil
}
