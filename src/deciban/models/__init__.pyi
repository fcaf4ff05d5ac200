from deciban.models.exporting import Exported as Exported
from deciban.models.exporting import exported as exported
from deciban.models.loading import load_model as load_model
from deciban.models.model import Model as Model
from deciban.models.model import Training as Training
