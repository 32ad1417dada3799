"""Speed and memory of the course's model beside other libraries of the same size."""
