package probe

import "context"

func (r *run) packets(ctx context.Context) {}
