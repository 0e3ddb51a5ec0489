package tui

import (
	"slices"
	"strconv"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// longestList is how many files of a volume line mode lists: at 9600 baud some 20 lines pass in a second. Others are taken by their names.
const longestList = 60

// fromFile has a person choose a file on a medium for a field.
func (p *prompts) fromFile(v view.Field) error {
	p.echo(true)
	p.write(t("files.loading"))
	p.write(p.do(p.link.act(session.Action{Verb: session.Act, Path: v.Path})))
	n := 0
	for _, volume := range p.snap.Volumes {
		p.printed("the files of a volume", []string{volume.Name, show(volume.Why)})
		for i, f := range volume.Files {
			if n++; i < longestList {
				p.print([]string{t("pick.choice", n, f.Path+"  "+t("files.bytes", f.Bytes))})
			}
		}
		if volume.More || len(volume.Files) > longestList {
			p.write(t("files.more"))
		}
	}
	files := filesOf(p.snap)
	if len(files) == 0 {
		p.write(t("plain.fileNone", t("plain.fileWord")))
		return p.drop()
	}
	text, err := p.ask(t("plain.fileNumber"))
	if err != nil {
		return err
	}
	i := slices.IndexFunc(files, func(f onMedium) bool { return f.file.Path == text })
	if n, bad := strconv.Atoi(text); i < 0 && bad == nil {
		i = n - 1
	}
	if i < 0 || i >= len(files) {
		return nil
	}
	a := files[i].take(v.Path)
	msg, _ := p.link.act(a)().(actMsg)
	p.flash = ""
	p.absorb(msg.snapshot)
	if msg.failed != nil {
		p.printed("why a file is not taken", []string{p.advice(msg.failed)})
		return p.drop()
	}
	p.took(a)
	p.printed("that a file is taken", []string{p.flash})
	return nil
}
