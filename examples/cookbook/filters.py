# Filters of an image: a blur by the mean of nine pixels, then edges by the differences across and down.
import numpy as np

image = np.array([[1.0 if i + j > 9 else 0.0 for j in range(12)] for i in range(8)])
blurred = sum(np.roll(image, (d, r), (0, 1)) for d in (-1, 0, 1) for r in (-1, 0, 1)) / 9.0
edges = np.sqrt((np.roll(blurred, 1, 0) - blurred) ** 2 + (np.roll(blurred, 1, 1) - blurred) ** 2)
for row in edges:
    print("".join("#" if e > 0.2 else "." for e in row))
