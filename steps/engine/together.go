package engine

import (
	"strings"
	"time"

	"touchdown/backend/message"
	"touchdown/steps/dated"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// judged is what the rules of the site config say of all answers, for what a list of stages needs.
func judged(list string, cfg *site.Config, now time.Time) (errs, warnings site.Errors) {
	errs, warnings = cfg.Validate(now)
	if list == view.ListFactory { // a node on the bench line has no site yet
		errs, warnings = errs.Below("spec.policy"), warnings.Below("spec.policy")
	}
	return errs, warnings
}

// judgeTogether says of each field why its value does not fit the other answers. It is kept until an answer changes: every snapshot asks
// for it, and it reads certificates.
func judgeTogether(d *draft, list string, by func(*site.Config) time.Time) map[string]message.Text {
	if d.together != nil {
		return d.together
	}
	d.together = map[string]message.Text{}
	cfg, _ := d.effective()
	errs, _ := judged(list, cfg, by(cfg))
	for _, err := range errs {
		path, item, inside := strings.Cut(err.Path, "[")
		if _, said := d.together[path]; said {
			continue
		}
		text := err.Says()
		if inside {
			text = message.F("[%s %s", item, text)
		}
		d.together[path] = text.Map(d.mask.Mask)
	}
	return d.together
}

// today is the time by which answers are judged; zero where nobody knows it.
func (c *core) today(cfg *site.Config) time.Time {
	return dated.By(c.o.Node.Host, c.recorder.now(), cfg)
}
