# Regression, and the principal directions of the same points by eigenvalues.
import numpy as np

random = np.random.default_rng(7)
x = random.standard_normal(200)
y = 2.0 * x + 1.0 + 0.5 * random.standard_normal(200)
fit = np.linalg.lstsq(np.stack([x, np.ones(200)], axis=1), y, rcond=None)[0]
print(f"slope {str(abs(fit[0] - 2.0) < 0.2).lower()}, intercept {str(abs(fit[1] - 1.0) < 0.2).lower()}")
spread = np.linalg.eigh(np.cov(x, y))
print(f"ratio of the variances above 20: {str(spread.eigenvalues[1] / spread.eigenvalues[0] > 20.0).lower()}")
